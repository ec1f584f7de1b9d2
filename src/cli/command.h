// One subcommand of the tool: a file of its own, and a row in main.cpp.
#pragma once

namespace profshim {

struct Command {
  const char* name;
  const char* sentence;
  int (*run)(int argc, char** argv);  // argv[0] is the subcommand's name; result is the exit code
};

}  // namespace profshim
