// Each subcommand has a row in commands.def.
#pragma once

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

}  // namespace profshim::cli
