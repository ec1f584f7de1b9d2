#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/command.h"
#include "planned.h"
#include "profshim/json/writer.h"
#include "spec_options.h"

namespace profshim::cli {
namespace {

struct ScheduleOptions {
  std::string file;
  SpecOptions spec;
  std::int64_t count = 30;
  bool json = false;
};

std::string action_string(const Schedule& schedule, std::int64_t count) {
  std::string out;
  for (std::int64_t step = 0; step < count; ++step) out += letter(schedule.action_of(step));
  return out;
}

void print_json(const std::string& actions, const std::vector<PlannedWindow>& windows) {
  JsonWriter json;
  json.open_object().member("actions", actions).key("windows").open_list();
  for (const PlannedWindow& window : windows) {
    json.open_object().member("first", window.first).member("last", window.last).member("complete", window.complete);
    json.close_object();
  }
  std::puts(json.close_list().close_object().text().c_str());
}

int schedule(int argc, char** argv) {
  constexpr std::int64_t kMostSteps = 1000000;
  ScheduleOptions options;
  Arguments arguments(
      "schedule",
      "Prints one letter per step: N not recorded, W warm-up, R recorded, S recorded and the last of its window.");
  arguments.add("SPEC", options.file, "Spec file (default: $PROFSHIM_SPEC, or else the built-in defaults)");
  arguments.add("--steps", options.count, "Number of steps to show (default: 30)")
      .range(1, static_cast<double>(kMostSteps));
  arguments.add("--set", options.spec.set, "Set any key; may be repeated").shown_as("KEY=VALUE");
  arguments.add("--json", options.json, "Print JSON");
  arguments.footer(
      "Example:\n  profshim schedule run.toml --steps 31 --set schedule.skip_first=5 --set schedule.repeat=2\n\n" +
      std::string(kExitStatus));
  int status = kSuccess;
  if (!arguments.parse(argc, argv, status)) return status;

  SpecSources sources = sources_from_environment();
  if (!options.file.empty()) sources.file = options.file;
  for (const std::string& assignment : options.spec.set) sources.options.emplace_back("--set", assignment);
  const LoadedSpec loaded = load_spec(sources);
  print_problems(loaded.problems);
  if (!loaded.ok()) return kFailure;

  const std::string actions = action_string(loaded.spec.schedule, options.count);
  const std::vector<PlannedWindow> windows =
      planned_windows(loaded.spec.schedule, options.count, static_cast<std::size_t>(options.count));
  if (options.json) {
    print_json(actions, windows);
    return kSuccess;
  }
  std::puts(actions.c_str());
  for (const PlannedWindow& window : windows) {
    std::printf("window %lld: steps %lld to %lld%s\n", static_cast<long long>(&window - windows.data()),
                static_cast<long long>(window.first), static_cast<long long>(window.last),
                window.complete ? "" : " and later");
  }
  if (windows.empty())
    std::printf("no window in these %lld steps; show more with --steps N\n", static_cast<long long>(options.count));
  return kSuccess;
}

}  // namespace

extern const Command kSchedule;
const Command kSchedule = {"schedule", "show which steps a spec records", schedule};

}  // namespace profshim::cli
