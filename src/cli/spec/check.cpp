// profshim check: the same code that reads the spec in the job.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "cli/command.h"
#include "estimate.h"
#include "profshim/base/files.h"
#include "profshim/base/printable.h"
#include "profshim/output.h"
#include "spec_options.h"

namespace profshim::cli {
namespace {

struct CheckOptions {
  std::string file;
  SpecOptions spec;
  bool json = false;
};

/// Where a value comes from, as problems name their place.
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

/// The estimate that explain gives, where a limit will cut the window.
void add_size_warnings(LoadedSpec& loaded) {
  const Schedule& schedule = loaded.spec.schedule;
  if (loaded.spec.steps.source == StepSource::kNone) return;  // nobody knows how long the job is
  constexpr std::size_t kMostWindows = 8;
  const Estimate e =
      estimate(planned_windows(schedule, steps_until_over(schedule), kMostWindows), loaded.spec, kEventsPerStep);
  char size[256];
  std::snprintf(size, sizeof size,
                " (a window of %.0f events, a trace of about %s, at %" PRId64
                " calls per step; profshim explain --events-per-step N takes another number)",
                e.events, size_text(e.trace_bytes).c_str(), kEventsPerStep);
  const char* of_what = size;  // once is enough
  for (const SizeWarning& warning : size_warnings(loaded.spec, e)) {
    loaded.problems.push_back(warning_about(loaded, warning.key, warning.message + of_what, warning.hint));
    of_what = "";
  }
}

/// Why a folder cannot be made on this machine; "" when it can, or when it is not known how it will be called.
std::string why_not_made(const std::string& path) {
  std::string ancestor = path;
  struct stat s {};
  while (stat(ancestor.c_str(), &s) != 0) {
    if (errno != ENOENT) return std::strerror(errno);
    const std::size_t slash = ancestor.rfind('/');
    if (slash == std::string::npos || ancestor == "/") return {};
    ancestor.resize(std::max<std::size_t>(slash, 1));
  }
  if (!S_ISDIR(s.st_mode)) return ancestor + " is no folder";
  return access(ancestor.c_str(), W_OK | X_OK) == 0 ? std::string() : ancestor + ": " + std::strerror(errno);
}

void add_folder_warning(LoadedSpec& loaded) {
  output::NameValues values;
  values.run_name = output::run_name_for(loaded.spec, job_identity());
  const std::string folder = absolute_path(output::expand(loaded.spec.output.folder, values));
  const std::string why_not = why_not_made(folder);
  if (why_not.empty()) return;
  loaded.problems.push_back(warning_about(loaded, "output.folder", folder + " cannot be made here: " + why_not,
                                          "--folder PATH takes another one"));
}

int check(int argc, char** argv) {
  CheckOptions options;
  CLI::App app("Checks a spec before the job runs, as the job itself will read it.", "profshim check");
  app.add_option("SPEC", options.file, "the spec (default: $PROFSHIM_SPEC)");
  options.spec.add_to(app);
  app.add_flag("--json", options.json, "problems as JSON on stdout");
  app.footer("Example:\n  profshim check run.toml && PROFSHIM_SPEC=run.toml mpirun ...");
  int status = kFine;
  if (!parse_arguments(app, argc, argv, status)) return status;

  const SpecSources sources = options.spec.sources(app, options.file);
  if (sources.file.empty() && sources.environment.empty() && sources.options.empty()) {
    std::fputs("profshim check: no spec; name a file, or set PROFSHIM_SPEC\n", stderr);
    return kInvalid;
  }
  LoadedSpec loaded = load_spec(sources);
  if (loaded.ok() && loaded.enabled) {
    add_size_warnings(loaded);
    add_folder_warning(loaded);
  }
  if (options.json) {
    std::printf("{\"ok\": %s, \"enabled\": %s, \"hash\": \"%s\", \"problems\": %s}\n", loaded.ok() ? "true" : "false",
                loaded.enabled ? "true" : "false", loaded.spec.hash().c_str(), problems_json(loaded.problems).c_str());
  } else {
    print_problems(loaded.problems);
    if (loaded.ok()) {
      std::printf("%s: fine%s\n", sources.file.empty() ? "environment" : printable(sources.file).c_str(),
                  loaded.enabled ? "" : ", but profile.enable is false: nothing will be recorded");
    }
  }
  return loaded.ok() ? kFine : kInvalid;
}

}  // namespace

extern const Command kCheck;
const Command kCheck = {"check", "check a spec before the job runs", check};

}  // namespace profshim::cli
