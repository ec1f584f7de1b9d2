// The spec: the settings of a recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profshim/base/log.h"
#include "profshim/base/problem.h"
#include "profshim/base/rank.h"
#include "profshim/perf_counters.h"
#include "profshim/spec/step_sources.h"
#include "profshim/window.h"

namespace profshim {

/// Reaction to another CUPTI client: release CUPTI, refuse the client, or ignore it.
enum class OnConflict : std::uint8_t { kYield, kRefuse, kIgnore };
enum class OnLimit : std::uint8_t { kCloseWindow, kDropNew, kDropOld };
enum class Overwrite : std::uint8_t { kNo, kYes, kNew };
enum class StacksMetric : std::uint8_t { kAuto, kSelfCpu, kSelfDevice };  // kAuto: devices' if there is any
enum class Gzip : std::uint8_t { kNo, kYes, kAuto };
/// Source of the offset between two clocks, for `profshim merge`.
enum class ClockSync : std::uint8_t {
  kCollective,  // from events that both ranks share; without any, kAnchors
  kAnchors,     // from the wall clocks of the hosts
  kNone,        // as kAnchors, and times that are no wall-clock times are kept
};
/// Source of device times. kAuto is CUPTI.
enum class DeviceTiming : std::uint8_t { kAuto, kCupti, kHost };

/// Selects ranks: "0,8-15".
class RankExpression {
 public:
  RankExpression();  // selects rank 0
  /// Returns false and sets `message` and `column` for an invalid or empty text.
  bool parse(std::string_view text, std::string& message, int& column);
  bool selects(const Rank& rank) const;
  const std::string& text() const { return text_; }
  /// Returns the written numbers of plain ranks and ranges ("0-31": 0 and 31) that are >= `world_size`.
  std::vector<int> outside(int world_size) const;
  /// True if no rank can match: "1 & 2". False if the expression is too large to try.
  bool selects_nobody() const;
  struct Node;

 private:
  std::string text_;
  std::vector<Node> nodes_;  // in postfix order
};
struct RankExpression::Node {
  enum class Kind : std::uint8_t { kRange, kAll, kLast, kEvery, kLocal, kNode, kHost, kRole, kAnd, kOr, kNot };
  Kind kind{};
  std::int64_t first = 0, last = 0, stride = 1;
  std::string glob;
};

/// The quantity per step that a [[check.rule]] bounds, summed over the matching names. Counts: `max` bounds the largest
/// of all ranks and steps, `min` the smallest. Times: both bound the median over the steps, `max` of the slowest rank,
/// `min` of the fastest.
enum class CheckMetric : std::uint8_t {
  kLaunches,  // calls that launch kernels or graphs
  kKernels,
  kCalls,  // operators, MPI and runtime calls, ranges
  kMpiBytes,
  kStepUs,
  kKernelUs,  // device time
  kCallUs,
  kCommunication  // time of MPI calls and NCCL kernels
};
constexpr bool is_count(CheckMetric metric) { return metric <= CheckMetric::kMpiBytes; }
std::string_view to_text(CheckMetric metric);

struct CheckRule {
  CheckMetric metric{};
  std::string name;   // glob; "" = all
  std::string phase;  // counts only what is inside; "" = everything
  std::optional<double> min, max, tolerance;
  std::string baseline;  // file of `profshim compare --update-baseline`, relative to the spec's folder
  int line = 0;
};

/// The keys of [capture] that a phase may have, too.
struct Detail {
  bool record_shapes = false;
  bool with_flops = false;
  bool with_stack = false;
  bool native_stack = false;
  bool with_modules = false;
  std::int64_t stack_every = 1;
  std::int64_t stack_depth = 32;
};

/// The kind of ranges that make a phase or its ticks.
enum class PhaseSource : std::uint8_t {
  kNvtx,    // ranges of NVTX
  kTorch,   // torch.profiler.record_function
  kSymbol,  // calls of a function of the program or its libraries
  kPython,  // calls of a Python function
  kKernel,  // consecutive launches of kernels
  kThread   // the life of a thread; makes no ticks
};
inline constexpr int kPhaseSources = 6;
/// Returns the key of the spec: "nvtx".
std::string_view to_text(PhaseSource source);

/// A named part of the job ([[phase]]). A setting without value comes from the top level of the spec.
struct PhaseSpec {
  struct Ranges {
    PhaseSource source{};
    std::string pattern;
  };
  struct GivenSchedule {
    std::optional<std::int64_t> skip_first, wait, warmup, active, repeat, skip_first_wait;
    std::vector<StepRange> steps;
    std::optional<bool> continuous;
  };
  struct Limits {
    std::optional<double> window_seconds;
    std::optional<std::int64_t> total_traces;
  };
  std::string name;
  Ranges ranges_of;
  bool has_windows = false;  // mode = "window"
  double max_seconds = 0;    // 0 = no limit
  std::optional<RankExpression> ranks;
  std::optional<Ranges> ticks;  // phase.steps: the schedule counts these instead of occurrences
  struct GivenDetail {
    std::optional<bool> record_shapes, with_flops, with_stack, native_stack, with_modules;
    std::optional<std::int64_t> stack_every, stack_depth;
  };
  GivenSchedule schedule;
  Limits limits;
  GivenDetail capture;
};
inline constexpr std::size_t kMostPhases = 32;

/// Lower bound of limits.host_memory.
inline constexpr std::uint64_t kLeastMemory = 16ull << 20;

/// src/spec/keys/table.cpp describes each key.
struct Spec : Detail {
  struct {
    bool enable = true;
    std::string run_name;
    bool abort_on_error = false;
    OnConflict on_conflict = OnConflict::kYield;
    LogLevel log_level = LogLevel::kWarn;
    std::string log = "stderr";
  } profile;
  struct {
    std::vector<std::string> match, exclude;
    std::string role;
    struct {
      bool cuda = true, nccl = true, mpi = true, torch = true, start = false;
    } require_any;
  } process;
  struct {
    RankExpression select;
    std::string source = "auto";
    bool record_unknown = false;
  } ranks;
  struct {
    StepSource source = StepSource::kAuto;
    std::string pattern;
    bool edge_end = false;
    std::int64_t every = 1;
    std::int64_t every_ms = 0;
    std::int64_t min_interval_ms = 0;
    bool absolute = false;
    std::int64_t first = 0;
    std::string epoch;
  } steps;
  Schedule schedule;
  bool schedule_per_epoch = false;
  bool save_on_exit = true;
  std::vector<PhaseSpec> phases;
  struct {
    bool cpu = true, cuda = true, nccl = true, mpi = true, nvtx = true;
  } activities;
  // Events that are written; see kineto::EventRules.
  std::vector<std::string> include, exclude;
  std::int64_t min_us = 0;
  bool python_calls = false;
  std::vector<std::string> python_include, python_exclude;  // patterns of paths of source files
  bool profile_memory = false;
  bool fold_polls = true;  // consecutive unsuccessful MPI polls become one event
  bool cuda_sync = false;
  bool nccl_profiler = false;
  bool whole_graphs = false;
  DeviceTiming device_timing = DeviceTiming::kAuto;
  ClockSync clock_sync = ClockSync::kCollective;
  struct {
    std::uint64_t host_memory = 2ull << 30;
    double window_seconds = 300;
    std::uint64_t trace_size = 1ull << 30;
    std::int64_t total_traces = 64;
    std::int64_t memory_entries = 1'000'000;
    std::uint64_t disk_free = 1ull << 30;
    OnLimit on_limit = OnLimit::kCloseWindow;
    std::string spool_folder;
  } limits;
  struct {
    std::string folder = "./profshim/{run_name}";
    std::string filename = "step{step}/rank{rank}.{step}.pt.trace.json";
    Gzip gzip = Gzip::kAuto;
    int gzip_level = 1;
    Overwrite overwrite = Overwrite::kNo;
    int niceness = 10;
    std::int64_t exit_seconds = 10;
    bool write_all = false;                                              // at the end of the job
    bool stacks = false, key_averages = false, memory_timeline = false;  // files besides the trace
    StacksMetric stacks_metric = StacksMetric::kAuto;
    bool arguments = true;
    std::int64_t traces_to_keep = -1;  // of a rank, and of each of its phases; -1 = all
    std::uint64_t keep_bytes = 0;      // of a rank; 0 = no limit
  } output;
  struct {
    bool kernels = true, steps = true, collectives = true;
    std::vector<std::string> table;  // sort keys, "auto"; empty = no table
    std::int64_t row_limit = 20;
    std::int64_t gap_us = 1000;
  } summary;
  struct {
    std::string command;  // "" = none
    std::string ranks;    // rank expression; "" = all that record
    bool after_each_window = false;
    std::int64_t timeout_seconds = 600;
  } finish;
  struct {
    std::int64_t min_traces = 0;
    std::string ranks;  // rank expression; "" = any
    bool complete = false;
    std::vector<CheckRule> rules;
  } check;

  struct System {
    bool cpu = false, memory = false, disk = false, net = false, gpu = false;
    double interval_seconds = 0.5;
  } system;

  struct {
    std::vector<PerfCounter> perf;  // in the order of PerfCounter
  } counters;

  std::string cupti_dump;  // folder for raw CUPTI buffers; "" = none

  /// Returns canonical TOML.
  std::string to_toml() const;
  /// Hashes to_toml(): 16 hex digits.
  std::string hash() const;
};

/// The schedule in force of a phase. A cycle and a list of steps replace each other.
Schedule schedule_of(const Spec& spec, const PhaseSpec& phase);
/// The detail of events in the windows of a phase.
Detail detail_of(const Spec& spec, const PhaseSpec& phase);
bool is_selected(const Spec& spec, const PhaseSpec& phase, const Rank& rank);
/// True if the ranges of a phase, or its ticks, are of this kind.
bool has_phases_of(const Spec& spec, PhaseSource source);
/// True if the spec bounds the traces that a rank has at any time.
bool removes_traces(const Spec& spec);

/// A later member overrides an earlier one.
struct SpecSources {
  std::string file;                                              // "" = none
  std::vector<std::pair<std::string, std::string>> environment;  // PROFSHIM_*
  std::vector<std::pair<std::string, std::string>> options;      // option as typed ("--ranks", "--set"), value
};
SpecSources sources_from_environment();

struct LoadedSpec {
  Spec spec;
  bool enabled = false;           // by profile.enable and PROFSHIM=0/1
  std::vector<Problem> problems;  // errors first
  bool ok() const;
  /// `origin`: "default", "run.toml:12", "PROFSHIM_RANKS", "--set".
  struct Origin {
    std::string key, value, origin;
    bool overridden = false;  // by environment or command line
  };
  std::vector<Origin> origins;
};
/// Also reads include.files. Never throws.
LoadedSpec load_spec(const SpecSources& sources);
LoadedSpec load_spec_text(std::string_view toml, const std::string& name);

struct KeyInfo {
  std::string_view name, type, values, default_value, short_forms, sentence;
};
const std::vector<KeyInfo>& spec_keys();
/// Returns a JSON schema (draft-07) of a spec, for editors. It accepts every valid spec, and refuses unknown keys and
/// wrong types and values.
std::string spec_schema();

}  // namespace profshim
