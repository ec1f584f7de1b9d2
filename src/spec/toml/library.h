// One interface for releases 3 and 4 of the TOML library, toml11.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <toml.hpp>
#include <variant>
#include <vector>

namespace profshim::spec {

/// Line and column count from 1; the column counts bytes.
struct Place {
  int line = 1, column = 1;
};

// Ordered tables: problems have the same order on every machine.
#if TOML11_VERSION_MAJOR >= 4

struct TomlTypes : toml::ordered_type_config {
  using comment_type = toml::discard_comments;
  template <class Key, class T>
  using table_type = std::map<Key, T>;
  /// A too large number becomes the largest one, as in release 3.
  static toml::result<integer_type, toml::error_info> parse_int(const std::string& digits,
                                                                const toml::source_location& at, std::uint8_t base) {
    auto number = toml::ordered_type_config::parse_int(digits, at, base);
    if (number.is_ok()) return number;
    using Limits = std::numeric_limits<integer_type>;
    return toml::ok(digits.starts_with('-') ? Limits::min() : Limits::max());
  }
};
using Toml = toml::basic_value<TomlTypes>;

inline Place place_of(const toml::source_location& at) {
  return {static_cast<int>(at.first_line_number()), static_cast<int>(at.first_column_number())};
}
inline const std::string& text_of(const Toml& value) { return value.as_string(); }

#else

using Toml = toml::basic_value<toml::discard_comments, std::map, std::vector>;

inline Place place_of(const toml::source_location& at) {
  return {static_cast<int>(at.line()), static_cast<int>(at.column())};
}
inline const std::string& text_of(const Toml& value) { return value.as_string().str; }

#endif

inline Place place_of(const Toml& value) { return place_of(value.location()); }

struct TomlRefusal {
  std::string message;
  Place place;
};
std::variant<Toml, TomlRefusal> parse_toml(std::string_view text, const std::string& name);

}  // namespace profshim::spec
