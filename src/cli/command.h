// Each subcommand has a row in commands.def.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profshim::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kProblemsFound = 1;
inline constexpr int kFailure = 2;

inline constexpr const char* kExitStatus = "Exit status: 0 success; 1 problems found; 2 invalid input or failure.";

struct Command {
  const char* name;
  const char* summary;
  /// Returns the exit status. main() turns an exception into kFailure.
  int (*run)(int argc, char** argv);
};

// `profshim help` prints the man pages itself: clusters often have no man command.

bool print_page(std::string_view name);

inline std::string plural(std::uint64_t n, std::string_view word) {
  return std::to_string(n) + " " + std::string(word) + (n == 1 ? "" : "s");
}

}  // namespace profshim::cli
