#pragma once

#include <cstdint>
#include <string>

namespace profshim {

/// Printed as FILE:LINE:COLUMN: KEY: [warning:] MESSAGE; HINT
struct Problem {
  enum class Severity : std::uint8_t { kError, kWarning };
  Severity severity = Severity::kError;
  std::string file;  // a path, or "environment", "--set", "PROFSHIM_RANKS", ...
  int line = 0;      // 1-based; 0 = none
  int column = 0;
  std::string key;  // "schedule.active"
  std::string message;
  std::string hint;
};
/// Returns one line without control characters.
std::string to_line(const Problem& problem);

}  // namespace profshim
