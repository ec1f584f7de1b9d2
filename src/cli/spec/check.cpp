#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/arguments.h"
#include "cli/command.h"
#include "estimate.h"
#include "profshim/base/files.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/text/number_text.h"
#include "profshim/json/writer.h"
#include "profshim/run/run_folder.h"
#include "spec_options.h"

namespace profshim::cli {
namespace {

struct CheckOptions {
  std::string file;
  SpecOptions spec;
  bool json = false;
};

Problem warning_about(const LoadedSpec& loaded, std::string key, std::string message, std::string hint) {
  Problem problem;
  problem.severity = Problem::Severity::kWarning;
  for (const LoadedSpec::Origin& origin : loaded.origins) {
    if (origin.key == key && origin.origin != "default") problem.file = origin.origin;
  }
  problem.key = std::move(key);
  problem.message = std::move(message);
  problem.hint = std::move(hint);
  return problem;
}

void add_size_warnings(LoadedSpec& loaded) {
  const Schedule& schedule = loaded.spec.schedule;
  if (loaded.spec.steps.source == StepSource::kNone) return;
  constexpr std::size_t kMostWindows = 8;
  const Estimate e =
      estimate(planned_windows(schedule, steps_until_over(schedule), kMostWindows), loaded.spec, kEventsPerStep);
  std::string details = " (estimate: " + fixed_text(e.events, 0) + " events in the window, about " +
                        size_text(e.trace_bytes) + " of trace, for " + std::to_string(kEventsPerStep) +
                        " calls per step; for another number: profshim explain --events-per-step N)";
  for (const SizeWarning& warning : size_warnings(loaded.spec, e)) {
    loaded.problems.push_back(warning_about(loaded, warning.key, warning.message + details, warning.hint));
    details.clear();
  }
}

std::string why_not_made(const std::string& path) {
  std::string ancestor = path;
  struct stat s {};
  while (stat(ancestor.c_str(), &s) != 0) {
    if (errno != ENOENT) return error_text(errno);
    const std::size_t slash = ancestor.rfind('/');
    if (slash == std::string::npos || ancestor == "/") return {};
    ancestor.resize(std::max<std::size_t>(slash, 1));
  }
  if (!S_ISDIR(s.st_mode)) return ancestor + " is not a folder";
  return access(ancestor.c_str(), W_OK | X_OK) == 0 ? std::string() : ancestor + ": " + error_text(errno);
}

void add_folder_warning(LoadedSpec& loaded) {
  NameValues values;
  values.rank.role = loaded.spec.process.role;
  values.run_name = run_name_for(loaded.spec, job_identity(rank_from_environment()));
  const std::string folder = absolute_path(expand(patterns_of(loaded.spec).folder, values));
  const std::string why_not = why_not_made(folder);
  if (why_not.empty()) return;
  loaded.problems.push_back(warning_about(loaded, "output.folder",
                                          "traces cannot be written into " + folder + " on this machine: " + why_not,
                                          "set output.folder to a writable folder"));
}

int check(int argc, char** argv) {
  CheckOptions options;
  Arguments arguments("check", "Checks a spec before the job runs, with the code that reads it in the job.");
  arguments.add("SPEC", options.file, "Spec file (default: $PROFSHIM_SPEC)");
  options.spec.add_to(arguments);
  arguments.add("--json", options.json, "Print JSON to stdout");
  arguments.footer("Example:\n  profshim check run.toml && PROFSHIM_SPEC=run.toml mpirun ...\n\n" +
                   std::string(kExitStatus));
  int status = kSuccess;
  if (!arguments.parse(argc, argv, status)) return status;

  const SpecSources sources = options.spec.sources(arguments, options.file);
  if (sources.file.empty() && sources.environment.empty() && sources.options.empty()) {
    std::fputs("profshim check: no spec given; name a file or set PROFSHIM_SPEC\n", stderr);
    return kFailure;
  }
  LoadedSpec loaded = load_spec(sources);
  if (loaded.ok() && loaded.enabled) {
    add_size_warnings(loaded);
    add_folder_warning(loaded);
  }
  if (options.json) {
    JsonWriter json;
    json.open_object().member("ok", loaded.ok()).member("enabled", loaded.enabled);
    json.member("hash", loaded.spec.hash());
    write_problems(json.key("problems"), loaded.problems);
    std::puts(json.close_object().text().c_str());
  } else {
    print_problems(loaded.problems);
    if (loaded.ok()) {
      std::printf("%s: valid%s\n", sources.file.empty() ? "environment" : printable(sources.file).c_str(),
                  loaded.enabled ? "" : ", but profile.enable is false: nothing will be recorded");
    }
  }
  return loaded.ok() ? kSuccess : kFailure;
}

}  // namespace

extern const Command kCheck;
const Command kCheck = {"check", "check a spec before the job runs", check};

}  // namespace profshim::cli
