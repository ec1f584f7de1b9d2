// Options for a spec and its overrides, parsing of a command line, and printing of spec problems.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "profshim/spec.h"

namespace profshim::cli {

/// The options that override keys of the spec. --set wins over the short options.
struct SpecOptions {
  std::string ranks, steps, folder, run_name;
  std::vector<std::string> set;

  void add_to(CLI::App& app);
  /// Returns the environment and these options; `file` replaces PROFSHIM_SPEC unless it is "".
  SpecSources sources(const CLI::App& app, const std::string& file) const;
};

/// Parses the arguments. Returns false if the command must end now with `status` (--help or a usage error), after
/// printing the help or the error.
bool parse_arguments(CLI::App& app, int argc, char** argv, int& status);

/// Loads a spec file without the environment's overrides; "" means no spec. Prints the problems; returns false if the
/// spec is invalid.
bool load_spec_file(const std::string& path, LoadedSpec& spec);

/// Prints one line per problem to stderr.
void print_problems(const std::vector<Problem>& problems);
/// Returns a JSON list of objects.
std::string problems_json(const std::vector<Problem>& problems);

}  // namespace profshim::cli
