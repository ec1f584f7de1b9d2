// The spec: what to record, when, where. Read once at activation (or by the tool) and constant afterwards.
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
#include "profshim/window.h"

namespace profshim {

enum class StepSource : std::uint8_t {
  kAuto,
  kNvtx,
  kSymbol,
  kKernel,
  kCollective,
  kCudaProfilerApi,
  kTorch,
  kTime,
  kNone
};
/// What to do when another client of CUPTI shows up: make room for it, refuse it, or go on as if it were not there.
enum class OnConflict : std::uint8_t { kYield, kRefuse, kIgnore };
enum class OnLimit : std::uint8_t { kCloseWindow, kDropNew, kDropOld };
enum class Overwrite : std::uint8_t { kNo, kYes, kNew };
enum class Gzip : std::uint8_t { kNo, kYes, kAuto };

/// Which ranks: parsed once, evaluated against one rank (the shim) or a whole world (explain).
class RankExpression {
 public:
  RankExpression();  // "0"
  /// False and a message with a position when the text is no expression. An empty text is an error.
  bool parse(std::string_view text, std::string& message, int& column);
  bool selects(const Rank& rank) const;
  const std::string& text() const { return text_; }
  /// Numbers in it that lie outside a world of this size: for a warning.
  std::vector<int> outside(int world_size) const;
  /// No rank of any world: "1 & 2". Sure when true; an expression too large to try gives false.
  bool selects_nobody() const;
  struct Node;

 private:
  std::string text_;
  std::vector<Node> nodes_;  // postfix
};
struct RankExpression::Node {
  enum class Kind : std::uint8_t { kRange, kAll, kLast, kEvery, kLocal, kNode, kHost, kAnd, kOr, kNot };
  Kind kind{};
  std::int64_t first = 0, last = 0, stride = 1;
  std::string glob;
};

/// What a [[check.rule]] is about: of the names that match, per step. Counts are the most (max) or the fewest (min) of
/// any rank and step; times the median over the steps, of the slowest (max) or fastest (min) rank.
enum class CheckMetric : std::uint8_t {
  kLaunches,      // launches_per_step: calls that launch kernels or graphs
  kKernels,       // kernels_per_step
  kCalls,         // calls_per_step: operators, calls of MPI and of the runtime, ranges
  kMpiBytes,      // mpi_bytes_per_step
  kStepUs,        // step_us
  kKernelUs,      // kernel_us: on the device, all of one step together
  kCallUs,        // call_us
  kCommunication  // communication_us: in calls of MPI and in NCCL's kernels
};
constexpr bool is_count(CheckMetric metric) { return metric <= CheckMetric::kMpiBytes; }
std::string_view to_text(CheckMetric metric);

struct CheckRule {
  CheckMetric metric{};
  std::string name;  // a glob; "" = all
  std::optional<double> min, max, tolerance;
  std::string baseline;  // a file of `profshim compare --update-baseline`; a relative path starts at the spec's folder
  int line = 0;          // in the spec's file
};

/// Every key that works, with its default. One member per key; src/spec/spec_keys.h declares name, type and sentence.
struct Spec {
  struct {
    bool enable = true;
    std::string run_name;  // "" = made from the job's identity
    bool abort_on_error = false;
    OnConflict on_conflict = OnConflict::kYield;
    LogLevel log_level = LogLevel::kWarn;
    std::string log = "stderr";
  } profile;
  struct {
    std::vector<std::string> match, exclude;
    std::string role;
  } process;
  struct {
    RankExpression select;        // "0"
    std::string source = "auto";  // auto, mpi, or the name of an environment variable pair: see reference.toml
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
  struct {
    bool cpu = true, cuda = true, nccl = true, mpi = true, nvtx = true;
  } activities;
  bool profile_memory = false;
  bool record_shapes = false;
  bool with_flops = false;
  bool with_stack = false;        // Python's
  bool native_stack = false;      // the machine's
  std::int64_t stack_every = 1;   // of PyTorch's operators the Nth of a thread gets a stack; 0 = none of them does
  std::int64_t stack_depth = 32;  // frames, from the innermost
  bool fold_polls = true;         // polls of MPI one after the other that came to nothing are one event
  bool cuda_sync = false;
  bool nccl_profiler = false;
  bool whole_graphs = false;  // one event per launch of a CUDA graph instead of one per node
  struct {
    std::uint64_t host_memory = 2ull << 30;
    double window_seconds = 300;
    std::uint64_t trace_size = 1ull << 30;
    std::int64_t total_traces = 64;
    std::int64_t memory_entries = 1'000'000;
    std::uint64_t disk_free = 1ull << 30;
    OnLimit on_limit = OnLimit::kCloseWindow;
    std::string spool_folder;  // "" = /dev/shm
  } limits;
  struct {
    std::string folder = "./profshim/{run_name}";
    std::string filename = "step{step}/rank{rank}.{step}.pt.trace.json";
    Gzip gzip = Gzip::kAuto;
    int gzip_level = 1;
    Overwrite overwrite = Overwrite::kNo;
    int niceness = 10;
    std::int64_t exit_seconds = 10;  // 0: signals and exec*() end the process as they come
    bool stacks = false;             // beside each trace a file of its stacks
    bool arguments = true;           // the command line in the traces; false: the program alone
  } output;
  struct {
    std::int64_t min_traces = 0;  // 0 = any number
    std::string ranks;            // a rank expression; "" = any
    bool complete = false;
    std::vector<CheckRule> rules;
  } check;

  std::string cupti_dump;  // debug: folder for raw CUPTI buffers; "" = none

  /// Canonical TOML of everything in force: printed by explain, kept in the spool and in every trace.
  std::string to_toml() const;
  /// 16 hex digits over to_toml().
  std::string hash() const;
};

/// The well-known step ranges of steps.source = "auto", in order.
const std::vector<std::string_view>& well_known_step_patterns();
/// How sure steps are that "auto" has taken from ranges of that name: "high" for what a program marks as its steps,
/// "medium" for the calls of an optimizer, "low" for forward passes, of which an iteration may have several.
std::string_view step_confidence(std::string_view marker);

/// Settings in the order of precedence; later wins.
struct SpecSources {
  std::string file;                                              // path; "" = none
  std::vector<std::pair<std::string, std::string>> environment;  // the PROFSHIM_* that are set, name and value
  std::vector<std::pair<std::string, std::string>>
      options;  // command line: option as typed ("--ranks", "--set"), value
};
/// Collects SpecSources from the process's environment.
SpecSources sources_from_environment();

struct LoadedSpec {
  Spec spec;
  bool enabled = false;           // after profile.enable and PROFSHIM=0/1
  std::vector<Problem> problems;  // errors first
  bool ok() const;                // no error among them
  /// Key, value and where it came from ("default", "run.toml:12", "PROFSHIM_RANKS", "--set"), for explain.
  struct Origin {
    std::string key, value, origin;
    bool overridden = false;  // by the environment or the command line: what `profshim run` hands on
  };
  std::vector<Origin> origins;
};
/// Never throws. Reads `sources.file` (and its include.files) and applies the overrides.
LoadedSpec load_spec(const SpecSources& sources);
/// The same on a text that was not read from a file (tests, fuzzing, the copy in a spool).
LoadedSpec load_spec_text(std::string_view toml, const std::string& name);

/// The key table, for `profshim keys` and for the tests of config/reference.toml.
struct KeyInfo {
  std::string_view name, type, values, default_value, short_forms, sentence;
};
const std::vector<KeyInfo>& spec_keys();

}  // namespace profshim
