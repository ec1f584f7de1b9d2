// Small JSON texts (metadata, manifests, output of the tool): checks, strings, leaves and parts. Each call parses its
// text anew. Never in a hook: it allocates.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace profshim {

/// One value of a JSON text; its views are valid during the callback that gets it.
struct JsonValue {
  std::string_view key;  // of an argument of an event; empty for leaves, which have a path
  enum class Kind : std::uint8_t { kNull, kBool, kInt, kDouble, kString, kJson } kind{};
  std::int64_t integer = 0;  // kInt, kBool
  double number = 0;         // kInt, kDouble
  std::string_view text;     // kString: decoded; kJson: compact JSON; numbers in arguments of events: as written
};

/// Returns `text` as a JSON string with quotes. Control characters are escaped, bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

/// Returns true if the whole text is one JSON value that every reader accepts: UTF-8, numbers in range, at most 64
/// levels deep.
bool valid_json(std::string_view json);

/// Calls `leaf` for every leaf of a JSON text, in order. The path is "pg_config.0.pg_name", or "" if the text is a
/// single value. An empty list or object is a leaf of kind kJson ("[]", "{}"). Returns false if the text is not JSON.
bool json_leaves(std::string_view json, const std::function<void(std::string_view path, const JsonValue& value)>& leaf);

/// Returns the elements of a JSON list, each as a JSON text; nothing if `json` is not a list.
std::vector<std::string> json_elements(std::string_view json);
/// Returns the value of a member of a JSON object, as a JSON text; "" if `json` is not an object or lacks the member.
std::string json_part(std::string_view json, std::string_view key);

}  // namespace profshim
