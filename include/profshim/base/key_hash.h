// Hashes keys with several parts. The hash of a key is the same in all processes.
#pragma once

#include <cstdint>
#include <string_view>

namespace profshim {

inline constexpr std::uint64_t kKeyStart = 0xcbf29ce484222325ull;

/// Call once per part, first with kKeyStart.
inline std::uint64_t mixed(std::uint64_t key, std::string_view text) {
  for (const char c : text) key = (key ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return (key ^ 0xff) * 0x100000001b3ull;
}
inline std::uint64_t mixed(std::uint64_t key, std::int64_t number) {
  key ^= static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15ull;
  return (key ^ key >> 29) * 0xbf58476d1ce4e5b9ull;
}

}  // namespace profshim
