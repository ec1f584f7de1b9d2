// Options for a spec and its overrides, and printing of spec problems.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "profshim/json/writer.h"
#include "profshim/spec.h"

namespace profshim::cli {

/// The options that override keys of the spec. --set wins over the short options.
struct SpecOptions {
  std::string ranks, steps, folder, run_name;
  std::vector<std::string> set;

  void add_to(Arguments& arguments);
  /// Returns the environment and these options; `file` replaces PROFSHIM_SPEC unless it is "".
  SpecSources sources(const Arguments& arguments, const std::string& file) const;
};

/// Loads a spec file without the environment's overrides; "" means no spec. Prints the problems; returns false if the
/// spec is invalid.
bool load_spec_file(const std::string& path, LoadedSpec& spec);

/// Prints one line per problem to stderr.
void print_problems(const std::vector<Problem>& problems);
/// Adds a JSON list with an object for each problem.
void write_problems(JsonWriter& json, const std::vector<Problem>& problems);

}  // namespace profshim::cli
