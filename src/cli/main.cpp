#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

#include "command.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/version.h"

namespace profshim::cli {

#define COMMAND(object, name, page) extern const Command object;
#include "commands.def"
#undef COMMAND

namespace {

constexpr const Command* kCommands[] = {
#define COMMAND(object, name, page) &object,
#include "commands.def"
#undef COMMAND
};

void print_commands(std::FILE* to) {
  std::fprintf(to,
               "profshim %s: records traces of MPI, NCCL, CUDA and PyTorch jobs without changing them\n\n"
               "Usage: profshim COMMAND [OPTIONS]\n"
               "       profshim COMMAND --help    the options of a command\n"
               "       profshim help COMMAND      its manual; also: help spec, help profshim\n\nCommands:\n",
               kVersion.data());
  for (const Command* command : kCommands) std::fprintf(to, "  %-10s %s\n", command->name, command->summary);
  std::fprintf(to, "\n%s\n", kExitStatus);
}

int unknown_command(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Command* command : kCommands) names.emplace_back(command->name);
  const std::string_view near = nearest(name, names);
  std::fprintf(stderr, "profshim: unknown command \"%.*s\"; ", static_cast<int>(name.size()), name.data());
  if (near.empty()) {
    std::fputs("`profshim --help` lists the commands\n", stderr);
  } else {
    std::fprintf(stderr, "did you mean \"%.*s\"?\n", static_cast<int>(near.size()), near.data());
  }
  return kFailure;
}

int run_command(int argc, char** argv) {
  if (argc < 2) {
    print_commands(stderr);
    return kFailure;
  }
  const std::string_view name = argv[1];
  if (name == "--help" || name == "-h" || (name == "help" && argc == 2)) {
    print_commands(stdout);
    return kSuccess;
  }
  if (name == "help") return print_page(argv[2]) ? kSuccess : unknown_command(argv[2]);
  if (name == "--version") {
    std::printf("profshim %s\n", kVersion.data());
    return kSuccess;
  }
  for (const Command* command : kCommands) {
    if (name == command->name) return command->run(argc - 1, argv + 1);
  }
  return unknown_command(name);
}

}  // namespace
}  // namespace profshim::cli

int main(int argc, char** argv) {
  try {
    const int status = profshim::cli::run_command(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      std::fputs("profshim: cannot write to standard output\n", stderr);
      return profshim::cli::kFailure;
    }
    return status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "profshim: %s\n", profshim::printable(error.what()).c_str());
    return profshim::cli::kFailure;
  }
}
