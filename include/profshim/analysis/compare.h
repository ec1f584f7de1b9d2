// Compares two runs, or one run with the rules of a spec. Tool only.
//
// Counts: how often each name occurs in each step of each rank (operators, MPI and runtime calls, NVTX ranges, kernels,
// copies). They do not vary between runs of one program, so any difference fails. A kernel belongs to the step that
// launched it. Exceptions:
//   - Activity of threads without the steps may cross the boundary of a step: only its median is compared.
//   - Polls (MPI_Test*, MPI_Iprobe, cudaEventQuery, ...) depend on the time waited and are not compared.
//
// Times: one sample for each step, that of the slowest rank. A time has grown if all of these hold:
//   1. A one-sided Mann-Whitney test (exact without ties, else normal with ties corrected) finds the steps of NEW
//      longer, at 1 % for the whole table: half for the step time, half for all other rows by Holm's correction, which
//      allows dependent rows. It uses only the order, since durations have long tails.
//   2. The medians differ by more than the tolerance (10 %) and the floor (100 us).
//   3. The slowest third of BASE is faster than the fastest third of NEW. Adjacent steps resemble each other (a
//      neighbor on the machine, a clock that warms up), which the test takes for evidence; such an excursion does not
//      fill both runs.
//   4. It holds against each run of the baseline.
//   5. The growth that the load by other processes does not explain (src/analysis/model/machine_load.h) still passes 2.
//      Only traces of profshim contain that load.
//   6. The growth is beyond the differences between runs: a CPU that shares its core with another job takes up to twice
//      as long. With three or more runs in the baseline, the median of NEW must be beyond Student's t for the next run
//      (at half of 1 %). With fewer, growth up to `cpu_noise` times BASE is ignored as far as CPU time grew with it: a
//      sleeping thread does not use a slower CPU.
// If only 5 or 6 does not hold, the verdict is "cannot tell", which does not fail. 5 and 6 do not apply to kernels that
// do not communicate: they run on no CPU.
// The step time and kernels that do not communicate fail on their own. Other times contain waits, which move between
// calls; they fail only together with the step time, else they are a note. With too few steps for a significant result,
// the table says how many are needed, which does not fail.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profshim/spec.h"

namespace profshim {

enum class RowKind : std::uint8_t { kCall, kRange, kRuntime, kKernel, kCopy };
std::string_view to_text(RowKind kind);

/// One name of one rank. The lists have an element for each step.
struct ProfileRow {
  std::vector<std::int64_t> count, time_ns;
  bool other_threads = false;  // threads without the steps took part
};

struct ProfileRank {
  int rank = -1;
  /// Number of each step, and 0, 1, ... for repetitions of a number (schedule.per = "epoch"). Without steps, each
  /// window is one.
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  std::vector<std::int64_t> step_ns, communication_ns, launches, mpi_bytes;
  double cpus_used = -1;  // mean CPUs used; -1 = unknown
  std::map<std::pair<RowKind, std::string>, ProfileRow> rows;
};

/// Sums over the machines of a run, in CPUs: 0.5 = one CPU for half of the time.
struct MachineLoad {
  double cpus = 0;
  double own = 0;     // by the recorded ranks
  double others = 0;  // by all other processes
  double waited = 0;  // ready threads that waited for a CPU; may exceed `cpus`
  double stolen = 0;  // the ranks' share of what hosts of virtual machines took away
};

struct RunProfile {
  std::string path;
  int world_size = -1;
  bool has_steps = false;
  std::size_t files = 0, incomplete_files = 0;
  std::uint64_t dropped = 0;
  std::optional<MachineLoad> machine;
  std::vector<ProfileRank> ranks;  // by rank
};

/// Throws std::runtime_error with one line if a file is not a trace, has no events, ends early, lost events, or belongs
/// to another run. `rules`: lost events do not throw; [check] judges them.
RunProfile profile_run(const std::vector<std::string>& files, const std::string& path, bool rules = false);

/// Throws std::runtime_error with one line if the file is not a baseline.
std::vector<RunProfile> read_baseline(const std::string& path);
bool is_baseline(const std::string& path);
std::string baseline_text(const std::vector<RunProfile>& runs);

struct CompareOptions {
  double tolerance = 0.10;
  double floor_us = 100;
  double alpha = 0.01;
  /// Allowed relative growth of CPU time with fewer than three runs; 1 = twice as long.
  double cpu_noise = 1;
};

struct Change {
  enum class What : std::uint8_t { kRule, kCount, kTime };
  enum class Verdict : std::uint8_t { kRegression, kNote, kCannotTell, kFaster, kSame };
  What what{};
  Verdict verdict{};
  std::string kind, name;               // "call", "MPI_Allreduce"; for a rule its metric and name
  std::optional<double> before, after;  // per step: a count or microseconds; no value = gone, new, or no baseline
  std::string ranks;                    // "0-3"
  std::string steps;                    // "20 of 20 steps"
  std::optional<double> p;
  std::string sentence;
};

struct Comparison {
  std::vector<Change> changes;  // worst first
  std::size_t ranks = 0, steps = 0, names = 0, times = 0, rules = 0;
  std::string unit;                       // "step" or "window"
  std::vector<std::string> not_compared;  // their counts depend on timing
  std::vector<std::string> notes;
  bool failed() const;
};

/// Throws std::runtime_error with one line if the runs cannot be compared: different ranks, only one has steps, or no
/// step is in both.
Comparison compare_runs(const std::vector<RunProfile>& base, const RunProfile& run, const CompareOptions& options);
/// Checks the rules of [check]. Relative paths of baselines start at the folder of `spec_path`.
Comparison check_rules(const Spec& spec, const std::string& spec_path, const RunProfile& run,
                       const CompareOptions& options);
void append(Comparison& to, Comparison&& more);

}  // namespace profshim
