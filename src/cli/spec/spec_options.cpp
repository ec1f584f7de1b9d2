#include "spec_options.h"

#include <cstdio>

#include "cli/command.h"
#include "profshim/base/printable.h"
#include "profshim/json.h"

namespace profshim::cli {

void SpecOptions::add_to(CLI::App& app) {
  app.add_option("--ranks", ranks, "Set ranks.select, for example 0,8-15 or \"node:0 & local:0\"")
      ->type_name("EXPRESSION");
  app.add_option("--steps", steps, "Set schedule.steps, for example 1,2,5-7")->type_name("LIST");
  app.add_option("--folder", folder, "Set output.folder")->type_name("PATH");
  app.add_option("--run-name", run_name, "Set profile.run_name")->type_name("NAME");
  app.add_option("--set", set, "Set any key; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
}

SpecSources SpecOptions::sources(const CLI::App& app, const std::string& file) const {
  SpecSources out = sources_from_environment();
  if (!file.empty()) out.file = file;
  const auto add = [&](const char* option, const std::string& value) {
    if (app.count(option) > 0) out.options.emplace_back(option, value);
  };
  add("--ranks", ranks);
  add("--steps", steps);
  add("--folder", folder);
  add("--run-name", run_name);
  for (const std::string& assignment : set) out.options.emplace_back("--set", assignment);
  return out;
}

bool parse_arguments(CLI::App& app, int argc, char** argv, int& status) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      status = app.exit(error);
    } else {
      std::fprintf(stderr, "profshim %s: %s; `profshim %s --help` lists the options\n", argv[0], error.what(), argv[0]);
      status = kFailure;
    }
    return false;
  }
}

bool load_spec_file(const std::string& path, LoadedSpec& spec) {
  if (path.empty()) return true;
  SpecSources sources;
  sources.file = path;
  spec = load_spec(sources);
  print_problems(spec.problems);
  return spec.ok();
}

void print_problems(const std::vector<Problem>& problems) {
  for (const Problem& problem : problems) std::fprintf(stderr, "%s\n", printable(to_line(problem)).c_str());
}

std::string problems_json(const std::vector<Problem>& problems) {
  std::string out = "[";
  for (const Problem& problem : problems) {
    if (out.size() > 1) out += ", ";
    out +=
        std::string("{\"severity\": ") + (problem.severity == Problem::Severity::kError ? "\"error\"" : "\"warning\"");
    out += ", \"file\": " + json_string(problem.file) + ", \"line\": " + std::to_string(problem.line);
    out += ", \"column\": " + std::to_string(problem.column) + ", \"key\": " + json_string(problem.key);
    out += ", \"message\": " + json_string(problem.message) + ", \"hint\": " + json_string(problem.hint) + "}";
  }
  return out + "]";
}

}  // namespace profshim::cli
