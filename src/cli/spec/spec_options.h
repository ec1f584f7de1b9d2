// What run, check, explain and schedule have in common: a spec, overrides of it, and its problems.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "profshim/spec.h"

namespace profshim::cli {

/// The overrides of the command line, in the order of 3.4: the short ones, then --set.
struct SpecOptions {
  std::string ranks, steps, folder, run_name;
  std::vector<std::string> set;

  void add_to(CLI::App& app);
  /// The environment, with `file` in the place of PROFSHIM_SPEC unless it is "", and these options.
  SpecSources sources(const CLI::App& app, const std::string& file) const;
};

/// Parses; false when the command is over, with its exit status (help, wrong usage).
bool parse_arguments(CLI::App& app, int argc, char** argv, int& status);

/// A file alone, whatever the environment says; "" = no spec. False when it cannot be used, which is then said.
bool load_spec_file(const std::string& path, LoadedSpec& spec);

/// One line per problem on stderr.
void print_problems(const std::vector<Problem>& problems);
/// The problems as a JSON list of objects.
std::string problems_json(const std::vector<Problem>& problems);

}  // namespace profshim::cli
