// A subcommand of the tool, and the exit statuses. Each subcommand has a row in commands.def.
#pragma once

namespace profshim::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kProblemsFound = 1;  // for example a regression or a missing trace
inline constexpr int kFailure = 2;        // invalid input, or the command could not do its work

/// The line about the exit status in the help of every command that uses these three values.
inline constexpr const char* kExitStatus = "Exit status: 0 success; 1 problems found; 2 invalid input or failure.";

struct Command {
  const char* name;
  const char* summary;  // one line for `profshim --help`
  /// argv[0] is the name of the subcommand. Returns the exit status. May throw: main prints the exception and exits
  /// with kFailure.
  int (*run)(int argc, char** argv);
};

}  // namespace profshim::cli
