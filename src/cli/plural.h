#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profshim::cli {

inline std::string plural(std::uint64_t n, std::string_view word) {
  return std::to_string(n) + " " + std::string(word) + (n == 1 ? "" : "s");
}

}  // namespace profshim::cli
