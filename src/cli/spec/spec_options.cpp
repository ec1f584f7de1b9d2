#include "spec_options.h"

#include <cstdio>

#include "profshim/base/text/message_text.h"

namespace profshim::cli {

void SpecOptions::add_to(Arguments& arguments) {
  arguments.add("--ranks", ranks, "Set ranks.select, for example 0,8-15 or \"node:0 & local:0\"")
      .shown_as("EXPRESSION");
  arguments.add("--steps", steps, "Set schedule.steps, for example 1,2,5-7").shown_as("LIST");
  arguments.add("--folder", folder, "Set output.folder").shown_as("PATH");
  arguments.add("--run-name", run_name, "Set profile.run_name").shown_as("NAME");
  arguments.add("--set", set, "Set any key; may be repeated").shown_as("KEY=VALUE");
}

SpecSources SpecOptions::sources(const Arguments& arguments, const std::string& file) const {
  SpecSources out = sources_from_environment();
  if (!file.empty()) out.file = file;
  const auto add = [&](const char* option, const std::string& value) {
    if (arguments.given(option)) out.options.emplace_back(option, value);
  };
  add("--ranks", ranks);
  add("--steps", steps);
  add("--folder", folder);
  add("--run-name", run_name);
  for (const std::string& assignment : set) out.options.emplace_back("--set", assignment);
  return out;
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

void write_problems(JsonWriter& json, const std::vector<Problem>& problems) {
  json.open_list();
  for (const Problem& problem : problems) {
    json.open_object().member("severity", problem.severity == Problem::Severity::kError ? "error" : "warning");
    json.member("file", problem.file).member("line", problem.line).member("column", problem.column);
    json.member("key", problem.key).member("message", problem.message).member("hint", problem.hint).close_object();
  }
  json.close_list();
}

}  // namespace profshim::cli
