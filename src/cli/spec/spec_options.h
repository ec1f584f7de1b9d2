#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "profshim/json/writer.h"
#include "profshim/spec.h"

namespace profshim::cli {

/// --set wins over the other options.
struct SpecOptions {
  std::string ranks, steps, folder, run_name;
  std::vector<std::string> set;

  void add_to(Arguments& arguments);
  /// Adds these options to the environment's settings. `file` replaces PROFSHIM_SPEC unless `file` is "".
  SpecSources sources(const Arguments& arguments, const std::string& file) const;
};

/// Ignores the environment. Loads no file if `path` is "". Prints problems.
bool load_spec_file(const std::string& path, LoadedSpec& spec);

void print_problems(const std::vector<Problem>& problems);
void write_problems(JsonWriter& json, const std::vector<Problem>& problems);

}  // namespace profshim::cli
