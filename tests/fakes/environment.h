#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace fake {

inline std::uint64_t number(const char* variable, std::uint64_t otherwise = 0) {
  const char* text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 0) : otherwise;
}

inline std::string text(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

inline std::string path(const char* variable) {
  std::string value = text(variable);
  if (const auto at = value.find("%p"); at != std::string::npos) value.replace(at, 2, std::to_string(getpid()));
  return value;
}

/// Returns the first value in "key=value,key=value" whose key is part of `name`.
inline std::uint64_t lookup(std::string_view list, std::string_view name, std::uint64_t otherwise) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    const auto item = list.substr(0, comma);
    if (const auto equals = item.find('='); equals != item.npos && name.find(item.substr(0, equals)) != name.npos)
      return std::strtoull(std::string(item.substr(equals + 1)).c_str(), nullptr, 0);
    if (comma == list.npos) break;
    list.remove_prefix(comma + 1);
  }
  return otherwise;
}

}  // namespace fake
