#include <cstdint>

#include "profshim/spec/name_pattern.h"
#include "row_types.h"
#include "rows.h"

namespace profshim::spec {
namespace {

constexpr std::int64_t kAny = kLargestNumber;

std::string check_folder(const std::string& text) { return check_pattern(text, true); }
std::string check_filename(const std::string& text) { return check_pattern(text, false); }

std::string check_ranks(const std::string& text) {
  if (text.empty()) return "";
  RankExpression ranks;
  std::string message;
  int column = 0;
  if (!ranks.parse(text, message, column)) return message;
  return ranks.selects_nobody() ? "selects no rank in any job" : "";
}

}  // namespace

std::vector<KeyRow> output_keys() {
  return {
      with_short_forms(
          text_row(
              "output.folder", "path with variables", [](Spec& s) -> std::string& { return s.output.folder; },
              "folder of the traces; a relative path starts at the folder in which the job starts", check_folder),
          "PROFSHIM_FOLDER, --folder"),
      text_row(
          "output.filename", "name with variables", [](Spec& s) -> std::string& { return s.output.filename; },
          "name of a trace within the folder; may hold folders", check_filename),
      export_row(),
      choice_row<StacksMetric>(
          "output.stacks_metric",
          {{"auto", StacksMetric::kAuto},
           {"self_cpu_time_total", StacksMetric::kSelfCpu},
           {"self_device_time_total", StacksMetric::kSelfDevice}},
          [](Spec& s) -> StacksMetric& { return s.output.stacks_metric; },
          "weight of a stack in the export stacks: self time on the CPU, or time of the kernels and copies that it "
          "launched; auto = the latter if there are any",
          {{"self_cuda_time_total", "did you mean \"self_device_time_total\"?"},
           {"self_cpu", "did you mean \"self_cpu_time_total\"?"},
           {"self_device", "did you mean \"self_device_time_total\"?"}}),
      choice_row<Gzip>(
          "output.gzip", {{"false", Gzip::kNo}, {"true", Gzip::kYes}, {"auto", Gzip::kAuto}},
          [](Spec& s) -> Gzip& { return s.output.gzip; },
          "compress traces and add .gz to their names; auto = large traces only", {}, true),
      integer_row(
          "output.gzip_level", 1, 9, +[](Spec& s) -> int& { return s.output.gzip_level; }, "1 = fast, 9 = small"),
      choice_row<Overwrite>(
          "output.overwrite", {{"false", Overwrite::kNo}, {"true", Overwrite::kYes}, {"new", Overwrite::kNew}},
          [](Spec& s) -> Overwrite& { return s.output.overwrite; },
          "if output.folder holds traces of another run: do not record, replace them, or use a numbered sibling folder",
          {}, true),
      integer_row(
          "output.num_traces_to_keep", -1, kAny, +[](Spec& s) -> std::int64_t& { return s.output.traces_to_keep; },
          "newest traces that each rank keeps, and keeps of each phase; older ones are removed. -1 = all; 0 = none "
          "once "
          "finish.command has succeeded"),
      size_row(
          "output.keep_bytes", 0, [](Spec& s) -> std::uint64_t& { return s.output.keep_bytes; },
          "size of the traces that each rank keeps: the oldest are removed, never the newest; 0 = no limit"),
      integer_row(
          "output.niceness", 0, 19, +[](Spec& s) -> int& { return s.output.niceness; },
          "nice value of the thread that writes"),
      boolean_row(
          "output.arguments", [](Spec& s) -> bool& { return s.output.arguments; },
          "write the job's arguments into its traces, secrets masked; false = the program's name only"),
      integer_row(
          "output.exit_seconds", 0, 3600, +[](Spec& s) -> std::int64_t& { return s.output.exit_seconds; },
          "seconds for which SIGTERM and similar signals, exec*() and daemon() may wait for the trace; 0 = they do "
          "not wait. After this time, the end of a job begins to write no further window"),
      boolean_row(
          "output.write_all", [](Spec& s) -> bool& { return s.output.write_all; },
          "the end of a job waits until all windows are written; false = it leaves those that it has not begun within "
          "output.exit_seconds to `profshim recover`"),
  };
}

std::vector<KeyRow> summary_keys() {
  return {
      boolean_row(
          "summary.kernels", [](Spec& s) -> bool& { return s.summary.kernels; },
          "write device activity by name into summary-rank{rank}.json, as `profshim summary --kernels --json`"),
      boolean_row(
          "summary.steps", [](Spec& s) -> bool& { return s.summary.steps; },
          "write the time breakdown of each step into summary-rank{rank}.json, as `profshim summary --steps --json`"),
      boolean_row(
          "summary.collectives", [](Spec& s) -> bool& { return s.summary.collectives; },
          "write the collectives by group and function into summary-rank{rank}.json, as `profshim summary --comms "
          "--json`"),
      summary_table_row(),
      integer_row(
          "summary.row_limit", -1, kAny, +[](Spec& s) -> std::int64_t& { return s.summary.row_limit; },
          "rows of the tables that summary.table prints; -1 = all"),
      integer_row(
          "summary.gap_us", 0, kAny / 1000, +[](Spec& s) -> std::int64_t& { return s.summary.gap_us; },
          "minimum length of a gap without any activity that summary.steps lists, in microseconds"),
  };
}

std::vector<KeyRow> clock_keys() {
  return {
      choice_row<ClockSync>(
          "clock.sync",
          {{"collective", ClockSync::kCollective}, {"anchors", ClockSync::kAnchors}, {"none", ClockSync::kNone}},
          [](Spec& s) -> ClockSync& { return s.clock_sync; },
          "how `profshim merge` aligns the clocks, unless --sync says so: by matching collectives, by wall-clock time, "
          "or not at all"),
  };
}

std::vector<KeyRow> finish_keys() {
  return {
      text_row(
          "finish.command", "text", [](Spec& s) -> std::string& { return s.finish.command; },
          "shell command to run once the traces are written, such as an upload; it is given PROFSHIM_FOLDER, "
          "PROFSHIM_FILES (a line each), PROFSHIM_RANK, PROFSHIM_NODE_RANK, PROFSHIM_RUN_NAME and PROFSHIM_STATUS; "
          "empty "
          "= none"),
      with_accepts(text_row(
                       "finish.ranks", "rank expression", [](Spec& s) -> std::string& { return s.finish.ranks; },
                       "the ranks that run it; empty = all that record", check_ranks),
                   {Accepts::Kind::kRanks}),
      choice_row<bool>(
          "finish.after", {{"run", false}, {"window", true}},
          [](Spec& s) -> bool& { return s.finish.after_each_window; },
          "run it once after the last trace, or after each, with the new files"),
      integer_row(
          "finish.timeout_seconds", 1, 86400, +[](Spec& s) -> std::int64_t& { return s.finish.timeout_seconds; },
          "it is killed with its children after this time; the end of the job waits for it"),
  };
}

std::vector<KeyRow> check_keys() {
  return {
      integer_row(
          "check.min_traces", 0, kAny, +[](Spec& s) -> std::int64_t& { return s.check.min_traces; },
          "`profshim compare --spec` and `profshim verify --spec`: the least number of traces"),
      with_accepts(
          text_row(
              "check.ranks", "rank expression", [](Spec& s) -> std::string& { return s.check.ranks; },
              "`profshim compare --spec` and `profshim verify --spec`: the ranks that must have a trace; empty = any",
              check_ranks),
          {Accepts::Kind::kRanks}),
      boolean_row(
          "check.complete", [](Spec& s) -> bool& { return s.check.complete; },
          "`profshim compare --spec` and `profshim verify --spec`: no trace may be incomplete or have lost events"),
      check_rule_row(),
  };
}

}  // namespace profshim::spec
