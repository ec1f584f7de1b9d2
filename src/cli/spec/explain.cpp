#include <unistd.h>

#include <cinttypes>
#include <cstdio>

#include "cli/arguments.h"
#include "cli/command.h"
#include "estimate.h"
#include "explain_steps.h"
#include "planned.h"
#include "profshim/base/files.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/text/number_text.h"
#include "profshim/json/writer.h"
#include "profshim/run/run_folder.h"
#include "spec_options.h"

namespace profshim::cli {
namespace {

struct ExplainOptions {
  std::string file;
  SpecOptions spec;
  int world_size = 1, local_world_size = 0;
  std::int64_t job_steps = 0;
  std::int64_t events_per_step = kEventsPerStep;
  bool json = false;
};

struct PlannedFile {
  int rank = 0;
  std::size_t window = 0;
  std::string name, added;
};

struct Plan {
  std::vector<int> ranks;
  std::vector<PlannedWindow> windows;
  bool windows_go_on = false;
  std::vector<PlannedFile> files;
  std::size_t files_in_all = 0;
  std::string folder, run_name;
  std::vector<PlannedPhase> phases;
};

Rank rank_in_world(int rank, const Spec& spec, const ExplainOptions& options) {
  Rank out;
  if (!spec.process.role.empty()) out.role = spec.process.role;
  out.rank = rank;
  out.world_size = options.world_size;
  out.local_world_size = options.local_world_size;
  out.local_rank = rank % options.local_world_size;
  out.node_rank = rank / options.local_world_size;
  return out;
}

std::int64_t planned_steps(const Schedule& schedule, const ExplainOptions& options) {
  return options.job_steps > 0 ? options.job_steps : steps_until_over(schedule);
}

std::vector<PlannedPhase> phases_of(const Spec& spec, const std::string& run_name, const char* host,
                                    const ExplainOptions& options) {
  if (spec.phases.empty()) return {};
  NameValues names;
  names.run_name = run_name;
  names.host = host;
  std::vector<Rank> ranks;
  for (int rank = 0; rank < options.world_size; ++rank) ranks.push_back(rank_in_world(rank, spec, options));
  return plan_phases(spec, ranks, names);
}

Plan make_plan(const Spec& spec, const ExplainOptions& options) {
  constexpr std::size_t kMostWindows = 8, kMostFiles = 10000;
  Plan plan;
  for (int rank = 0; rank < options.world_size; ++rank) {
    if (spec.ranks.select.selects(rank_in_world(rank, spec, options))) plan.ranks.push_back(rank);
  }
  plan.windows = planned_windows(spec.schedule, planned_steps(spec.schedule, options), kMostWindows + 1);
  if (plan.windows.size() > kMostWindows) {
    plan.windows.resize(kMostWindows);
    plan.windows_go_on = true;
  }
  plan.files_in_all = plan.windows.size() * plan.ranks.size();
  plan.run_name = run_name_for(spec, job_identity(rank_from_environment()));
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  plan.phases = phases_of(spec, plan.run_name, host, options);
  for (std::size_t window = 0; window < plan.windows.size(); ++window) {
    for (const int rank : plan.ranks) {
      if (plan.files.size() >= kMostFiles) return plan;
      NameValues values;
      values.rank = rank_in_world(rank, spec, options);
      values.run_name = plan.run_name;
      values.host = host;
      values.first_step = spec.steps.first + plan.windows[window].first;
      values.last_step = spec.steps.first + plan.windows[window].last;
      if (spec.steps.absolute) {
        values.first_step = plan.windows[window].first;
        values.last_step = plan.windows[window].last;
      }
      values.window = static_cast<std::int64_t>(window);
      values.words = {{"pid", "PID"}};
      if (plan.folder.empty()) plan.folder = absolute_path(expand(patterns_of(spec).folder, values));
      PlannedFile file{rank, window, {}, {}};
      file.name = trace_file_name(spec, values, file.added);
      plan.files.push_back(std::move(file));
    }
  }
  if (plan.folder.empty()) {
    NameValues values;
    values.rank.role = spec.process.role;
    values.run_name = plan.run_name;
    plan.folder = absolute_path(expand(patterns_of(spec).folder, values));
  }
  return plan;
}

void print_files(const Plan& plan) {
  constexpr std::size_t kShown = 64;
  std::printf("\nfiles: %zu%s in %s\n", plan.files_in_all, plan.windows_go_on ? " and more" : "",
              printable(plan.folder).c_str());
  std::size_t shown = 0;
  for (const PlannedFile& file : plan.files) {
    if (shown++ == kShown) {
      std::printf("  ... and %zu more; --json lists %s\n", plan.files_in_all - kShown,
                  plan.files.size() == plan.files_in_all ? "them" : "more of them");
      return;
    }
    std::printf("  rank %d, window %zu: %s%s\n", file.rank, file.window, printable(file.name).c_str(),
                file.added.empty() ? "" : ("  (\"" + file.added + "\" added to make the name unique)").c_str());
  }
}

void print_estimate(const Spec& spec, const Estimate& e, const ExplainOptions& options) {
  std::printf("\nestimates for %" PRId64 " recorded calls per step (--events-per-step):\n", options.events_per_step);
  std::printf("  largest trace: %s events, %s, about %s gzipped\n", fixed_text(e.events, 0).c_str(),
              size_text(e.trace_bytes).c_str(), size_text(e.gzip_bytes).c_str());
  std::printf("  host memory for its events: %s of limits.host_memory = %s\n", size_text(e.memory_bytes).c_str(),
              format_size(spec.limits.host_memory).c_str());
  std::printf("  cost of a recorded step: about %s us; outside windows a few ns per call\n",
              fixed_text(e.microseconds_per_step, 1).c_str());
  for (const SizeWarning& warning : size_warnings(spec, e)) {
    std::printf("  warning: %s: %s; %s\n", warning.key.c_str(), warning.message.c_str(), warning.hint.c_str());
  }
}

void print_text(const LoadedSpec& loaded, const Plan& plan, const ExplainOptions& options) {
  std::printf("%s; spec %s\n\n",
              loaded.spec.profile.enable ? "recording is on" : "recording is off (profile.enable = false)",
              loaded.spec.hash().c_str());
  for (const LoadedSpec::Origin& origin : loaded.origins) {
    std::printf("%-24s = %-30s # %s\n", origin.key.c_str(), printable(origin.value).c_str(),
                printable(origin.origin).c_str());
  }
  std::printf("\nranks: %s (%zu of %d, %d per node)\n", rank_set(plan.ranks).c_str(), plan.ranks.size(),
              options.world_size, options.local_world_size);
  std::printf("run name: %s\n", printable(plan.run_name).c_str());
  for (std::size_t i = 0; i < plan.windows.size(); ++i) {
    const PlannedWindow& window = plan.windows[i];
    std::printf("window %zu: steps %" PRId64 " to %" PRId64, i, window.first, window.last);
    // File names and ProfilerStep#N use the job's step numbers.
    if (const Spec& spec = loaded.spec; spec.steps.first != 0 && !spec.steps.absolute) {
      std::printf(" (in the trace: %" PRId64 " to %" PRId64 ")", spec.steps.first + window.first,
                  spec.steps.first + window.last);
    }
    std::puts(window.complete ? "" : " (the job ends in this window)");
  }
  if (plan.windows_go_on) std::printf("... and more: the first %zu windows are shown\n", plan.windows.size());
  if (plan.windows.empty()) std::puts("no window: the job (--job-steps) ends before the first window");
  print_files(plan);
  print_phases(plan.phases);
  print_estimate(loaded.spec, estimate(plan.windows, loaded.spec, options.events_per_step), options);
}

void write_estimate(JsonWriter& json, const Estimate& e) {
  json.key("estimate").open_object().key("events").decimal(e.events, 0).key("trace_bytes").decimal(e.trace_bytes, 0);
  json.key("gzip_bytes").decimal(e.gzip_bytes, 0).key("memory_bytes").decimal(e.memory_bytes, 0);
  json.key("microseconds_per_step").decimal(e.microseconds_per_step, 1).close_object();
}

void print_json(const LoadedSpec& loaded, const Plan& plan, const ExplainOptions& options) {
  JsonWriter json;
  json.open_object().member("enabled", loaded.spec.profile.enable).member("hash", loaded.spec.hash());
  json.member("run_name", plan.run_name).member("folder", plan.folder).line(1).key("keys").open_list();
  for (const LoadedSpec::Origin& origin : loaded.origins) {
    json.line_unless_first(2).open_object().member("key", origin.key).member("value", origin.value);
    json.member("origin", origin.origin).close_object();
  }
  json.close_list().line(1).list("ranks", plan.ranks).line(1).key("windows").open_list();
  for (const PlannedWindow& window : plan.windows) {
    json.open_object().member("first", window.first).member("last", window.last).close_object();
  }
  json.close_list().line(1).member("windows_go_on", plan.windows_go_on);
  json.line(1).member("files_in_all", plan.files_in_all).line(1).key("files").open_list();
  for (const PlannedFile& file : plan.files) {
    json.line_unless_first(2).open_object().member("rank", file.rank).member("window", file.window);
    json.member("name", file.name).close_object();
  }
  json.close_list().line(1);
  if (!plan.phases.empty()) write_phases(json.key("phases"), plan.phases);
  write_estimate(json, estimate(plan.windows, loaded.spec, options.events_per_step));
  write_problems(json.line(1).key("problems"), loaded.problems);
  std::puts(json.close_object().text().c_str());
}

void check_against_world(LoadedSpec& loaded, const Plan& plan, const ExplainOptions& options) {
  const RankExpression& select = loaded.spec.ranks.select;
  Problem problem;
  for (const LoadedSpec::Origin& origin : loaded.origins) {
    if (origin.key == "ranks.select" && origin.origin != "default") problem.file = origin.origin;
  }
  problem.key = "ranks.select";
  for (const int number : select.outside(options.world_size)) {
    problem.severity = Problem::Severity::kWarning;
    problem.message = "rank " + std::to_string(number) + " does not exist in a job of " +
                      std::to_string(options.world_size) + " ranks (--world-size)";
    loaded.problems.push_back(problem);
  }
  if (!plan.ranks.empty()) return;
  problem.severity = Problem::Severity::kError;
  problem.message = "\"" + select.text() + "\" selects no rank in a job of " + std::to_string(options.world_size) +
                    " ranks (--world-size)";
  if (select.text().find("host:") != std::string::npos) problem.hint = "host names are known only in the job";
  loaded.problems.push_back(problem);
}

int explain(int argc, char** argv) {
  ExplainOptions options;
  Arguments arguments("explain",
                      "Prints the spec in force, the origin of each value, and the files that the job will write.");
  arguments.add("SPEC", options.file, "Spec file (default: $PROFSHIM_SPEC, or else the built-in defaults)");
  arguments.add("--world-size", options.world_size, "Number of ranks in the job (default: 1)").range(1, 10000000);
  arguments.add("--local-world-size", options.local_world_size, "Number of ranks per node (default: all on one node)")
      .range(1, 10000000);
  arguments.add("--job-steps", options.job_steps, "Number of steps in the job (default: until the schedule is over)")
      .range(1, 0x1p40);
  arguments.add("--events-per-step", options.events_per_step, "Recorded calls per step, for estimates (default: 1000)")
      .range(1, 0x1p40);
  options.spec.add_to(arguments);
  arguments.add("--json", options.json, "Print JSON");
  arguments.footer(
      "With a trace as --steps, prints the loops of the job instead, and the lines of a spec for its steps.\n\n"
      "Example:\n  profshim explain run.toml --world-size 16 --local-world-size 8 --ranks \"local:0\"\n"
      "  profshim explain --steps ./profshim/my-run/rank0.pt.trace.json.gz\n\n" +
      std::string(kExitStatus));
  int status = kSuccess;
  if (!arguments.parse(argc, argv, status)) return status;
  // A list of steps has neither dots nor slashes, the path of a trace has.
  if (options.spec.steps.find_first_of("./") != std::string::npos) {
    return explain_steps(options.spec.steps, options.json);
  }
  if (options.local_world_size == 0) options.local_world_size = options.world_size;
  if (options.local_world_size > options.world_size) {
    std::fprintf(stderr, "profshim explain: %d ranks per node in a job of %d; set --world-size to the whole job\n",
                 options.local_world_size, options.world_size);
    return kFailure;
  }

  LoadedSpec loaded = load_spec(options.spec.sources(arguments, options.file));
  if (!loaded.ok()) {
    print_problems(loaded.problems);
    return kFailure;
  }
  const Plan plan = make_plan(loaded.spec, options);
  check_against_world(loaded, plan, options);
  print_problems(loaded.problems);
  if (!loaded.ok()) return kFailure;
  if (options.json) {
    print_json(loaded, plan, options);
  } else {
    print_text(loaded, plan, options);
  }
  return kSuccess;
}

}  // namespace

extern const Command kExplain;
const Command kExplain = {"explain", "show the spec in force and the resulting ranks, windows and files", explain};

}  // namespace profshim::cli
