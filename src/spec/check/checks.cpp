#include "checks.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "profshim/base/files.h"
#include "profshim/base/glob.h"
#include "profshim/base/text/message_text.h"
#include "profshim/event.h"

namespace profshim::spec {
namespace {

class Checks {
 public:
  Checks(const Spec& spec, const Settings& settings, std::vector<Problem>& problems)
      : spec_(spec), settings_(settings), problems_(problems) {}

  void all() {
    ranks();
    step_source();
    step_edge();
    epochs();
    schedule();
    folder();
    filename();
    stacks();
    memory_timeline();
    modules();
    python_files();
    start_of_process();
    retention();
    phases_of_rules();
  }

 private:
  bool given(const char* key) const { return settings_.count(key) != 0; }

  void add(Problem::Severity severity, const char* key, const char* other, std::string message, std::string hint) {
    Problem problem;
    problem.severity = severity;
    problem.key = key;
    auto at = settings_.find(key);
    if (at == settings_.end()) at = settings_.find(other);
    if (at != settings_.end()) {
      problem.file = at->second.file;
      problem.line = at->second.value.line;
      problem.column = at->second.value.column;
    }
    problem.message = std::move(message);
    problem.hint = std::move(hint);
    problems_.push_back(std::move(problem));
  }
  void error(const char* key, const char* other, std::string message, std::string hint) {
    add(Problem::Severity::kError, key, other, std::move(message), std::move(hint));
  }
  void warning(const char* key, std::string message, std::string hint) {
    add(Problem::Severity::kWarning, key, key, std::move(message), std::move(hint));
  }

  void ranks() {
    if (spec_.ranks.select.selects_nobody()) {
      error("ranks.select", "ranks.select", "selects no rank in any job",
            "write \"0\" for the first rank, \"all\" for all");
    }
  }

  static bool makes_collective_steps(HookId hook) {
    return !hook_name(hook).empty() && (hook_layer(hook) == Layer::kMpi || hook_layer(hook) == Layer::kNccl);
  }
  bool pattern_is_a_collective() const {
    for (std::size_t i = 0; i < static_cast<std::size_t>(HookId::kCount); ++i) {
      const auto hook = static_cast<HookId>(i);
      if (makes_collective_steps(hook) && glob_match(spec_.steps.pattern, hook_name(hook))) return true;
    }
    return false;
  }
  std::string near_collective() const {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < static_cast<std::size_t>(HookId::kCount); ++i) {
      if (const auto hook = static_cast<HookId>(i); makes_collective_steps(hook)) names.push_back(hook_name(hook));
    }
    const std::string_view near = nearest(spec_.steps.pattern, names);
    return near.empty() ? "name an MPI function such as \"MPI_Allreduce\""
                        : "did you mean \"" + std::string(near) + "\"?";
  }

  void source_of_cupti(const std::string& source) {
    if (spec_.device_timing == DeviceTiming::kHost) {
      error("capture.device_timing", "steps.source", source + " needs CUPTI",
            "write capture.device_timing = \"cupti\", or change steps.source");
    }
    if (!spec_.activities.cuda) {
      error("capture.activities", "steps.source", source + " needs the activity \"cuda\"",
            "add \"cuda\" to this list, or change steps.source");
    }
  }

  void step_source() {
    const StepSourceRow& row = row_of(spec_.steps.source);
    const std::string source = "steps.source = \"" + std::string(row.word) + "\"";
    const bool has_pattern = !spec_.steps.pattern.empty();
    if (row.pattern == StepSourceRow::Pattern::kRequired && !has_pattern) {
      error("steps.pattern", "steps.source", source + " needs " + std::string(row.wanted),
            "write steps.pattern = " + std::string(row.example));
    }
    if (row.pattern == StepSourceRow::Pattern::kNone && has_pattern) {
      warning("steps.pattern", "has no effect with this steps.source", "remove it");
    }
    if (row.has(StepSourceRow::kCupti)) source_of_cupti(source);
    if (spec_.steps.source == StepSource::kCollective && has_pattern && !pattern_is_a_collective()) {
      error("steps.pattern", "steps.source", "matches no MPI or NCCL function that profshim records",
            near_collective());
    }
    if (spec_.steps.source == StepSource::kTime && spec_.steps.every_ms == 0) {
      error("steps.every_ms", "steps.source", "steps.source = \"time\" needs the length of a step",
            "write steps.every_ms = 1000");
    }
    if (spec_.steps.source == StepSource::kCudaProfilerApi && spec_.steps.every != 1) {
      error("steps.every", "steps.source",
            "with steps.source = \"cuda_profiler_api\" each range from cudaProfilerStart to cudaProfilerStop is a step",
            "remove steps.every; schedule.active puts several ranges into one window");
    }
    if (spec_.steps.every_ms != 0 && spec_.steps.source != StepSource::kTime) {
      warning("steps.every_ms", "has no effect unless steps.source = \"time\"",
              "remove it, or write steps.source = \"time\"");
    }
  }

  void step_edge() {
    if (!spec_.steps.edge_end) return;
    const std::string_view why = row_of(spec_.steps.source).why_no_end;
    if (!why.empty()) {
      error("steps.edge", "steps.source", "\"end\" does not work with this steps.source: " + std::string(why),
            "write steps.edge = \"begin\"");
    }
  }

  void epochs() {
    if (!spec_.schedule_per_epoch) return;
    if (spec_.steps.epoch.empty()) {
      error("schedule.per", "schedule.per", "\"epoch\" needs the NVTX range that marks an epoch",
            "write steps.epoch = \"epoch*\"");
    }
    if (spec_.steps.absolute) {
      error("schedule.per", "schedule.per", "\"epoch\" and steps.numbering = \"absolute\" contradict each other",
            "absolute numbers do not start again with an epoch; remove one of the two");
    }
  }

  void schedule() {
    const Schedule& s = spec_.schedule;
    if (s.steps.empty() && given("schedule.warmup") && s.warmup == 0) {
      warning("schedule.warmup", "without warm-up the first recorded step also shows the cost of starting to record",
              "write schedule.warmup = 1");
    }
    if (spec_.steps.source == StepSource::kNone && !s.steps.empty()) {
      warning("schedule.steps", "has no effect: with steps.source = \"none\" the whole job is one window", "remove it");
    }
  }

  void folder() {
    const std::string path = absolute_path(spec_.output.folder);
    if (path.find("/ray/") != std::string::npos && path.find("/runtime_resources/") != std::string::npos) {
      warning("output.folder", "lies in Ray's temporary run-time folder, which Ray deletes", "write an absolute path");
    }
  }

  void filename() {
    const std::string& name = spec_.output.filename;
    if (!name.ends_with(".json") && !name.ends_with(".json.gz")) {
      warning("output.filename", "does not end in .json: HTA, TensorBoard and `profshim ls` will not find the traces",
              "write \"" + name.substr(0, 60) + ".pt.trace.json\"");
    }
  }

  void stacks() {
    if (!spec_.output.stacks || spec_.with_stack || spec_.native_stack) return;
    warning("output.export", "\"stacks\" exports nothing: no stacks are recorded",
            "write capture.with_stack = true or capture.native_stack = true");
  }

  void memory_timeline() {
    if (!spec_.output.memory_timeline || spec_.profile_memory) return;
    warning("output.export", "\"memory_timeline\" exports nothing: no memory is recorded",
            "write capture.profile_memory = true");
  }

  void modules() {
    if (!spec_.with_modules || spec_.with_stack) return;
    error("capture.with_modules", "capture.with_modules", "modules are read from Python stacks, but none are recorded",
          "write capture.with_stack = true");
  }

  void start_of_process() {
    if (!spec_.process.require_any.start || !spec_.process.match.empty()) return;
    error("process.require_any", "process.require_any",
          "\"start\" would record every process of the job, also shells and launchers",
          "name the program, such as process.match = [\"*train.py*\"]");
  }

  void python_files() {
    if (spec_.python_calls) return;
    for (const auto& [key, patterns] : {std::pair{"capture.python_include", &spec_.python_include},
                                        std::pair{"capture.python_exclude", &spec_.python_exclude}}) {
      if (!patterns->empty()) {
        error(key, key, "chooses among Python calls, but none are recorded", "write capture.python_calls = true");
      }
    }
  }

  void retention() {
    if (spec_.output.traces_to_keep == 0 && spec_.finish.command.empty()) {
      error("output.num_traces_to_keep", "output.num_traces_to_keep",
            "0 keeps no trace, and no finish.command gets them",
            "write the number of traces to keep, or set finish.command");
    }
  }

  /// A spec without phases may check the traces of another spec.
  void phases_of_rules() {
    const auto rules = settings_.find("check.rule");
    if (spec_.phases.empty() || rules == settings_.end()) return;
    std::vector<std::string_view> names;
    std::string all;
    for (const PhaseSpec& phase : spec_.phases) {
      names.push_back(phase.name);
      all += (all.empty() ? "" : ", ") + phase.name;
    }
    for (const Value& rule : rules->second.value.items) {
      for (const Value& member : rule.items) {
        if (member.name != "phase" || std::find(names.begin(), names.end(), member.text) != names.end()) continue;
        const std::string_view near = nearest(member.text, names);
        error("check.rule", "check.rule", "no [[phase]] has the name " + quoted(member.text),
              near.empty() ? "phases of this spec: " + all : "did you mean \"" + std::string(near) + "\"?");
        problems_.back().line = member.line;
        problems_.back().column = member.column;
      }
    }
  }

  const Spec& spec_;
  const Settings& settings_;
  std::vector<Problem>& problems_;
};

}  // namespace

void check_whole(const Spec& spec, const Settings& settings, std::vector<Problem>& problems) {
  Checks(spec, settings, problems).all();
}

}  // namespace profshim::spec
