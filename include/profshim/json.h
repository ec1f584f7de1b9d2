// Reads and writes small JSON texts. Allocates: not for hooks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace profshim {

/// The views are valid only during the callback.
struct JsonValue {
  std::string_view key;  // of an event's argument; empty in json_leaves()
  enum class Kind : std::uint8_t { kNull, kBool, kInt, kDouble, kString, kJson } kind{};
  std::int64_t integer = 0;  // kInt, kBool
  double number = 0;         // kInt, kDouble
  std::string_view text;     // kString: decoded; kJson: compact JSON; numbers in event arguments: as written
};

/// Returns `text` as a quoted JSON string. Non-UTF-8 bytes become U+FFFD.
std::string json_string(std::string_view text);

/// True for one JSON value in UTF-8 with numbers in range and at most 64 levels.
bool valid_json(std::string_view json);

/// Calls `leaf` for every leaf. `path`: such as "pg_config.0.pg_name". An empty list or object is a kJson leaf ("[]",
/// "{}"). Returns false if the text is not JSON.
bool json_leaves(std::string_view json, const std::function<void(std::string_view path, const JsonValue& value)>& leaf);

/// Returns the elements as JSON texts; none if `json` is not a list.
std::vector<std::string> json_elements(std::string_view json);
/// Returns a member as JSON text; "" = none.
std::string json_part(std::string_view json, std::string_view key);

}  // namespace profshim
