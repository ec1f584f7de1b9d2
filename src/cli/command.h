// A subcommand of the tool: a file, and a row in the table of main.cpp.
#pragma once

namespace profshim::cli {

/// What the tool's exit status says.
inline constexpr int kFine = 0;
inline constexpr int kFound = 1;    // a difference, a missing trace
inline constexpr int kInvalid = 2;  // could not, or invalid input

struct Command {
  const char* name;
  const char* sentence;
  /// argv[0] is the subcommand's name. May throw; main says what and exits with kInvalid.
  int (*run)(int argc, char** argv);
};

}  // namespace profshim::cli
