// Compares two runs, or one run with the rules of a spec: the gate of a CI. Tool only.
//
// Counts: how often each name occurs in each step of each rank (operators, calls of MPI and of the runtime, NVTX
// ranges, kernels, copies). They do not vary between runs of one program, so any difference fails. A kernel belongs to
// the step that launched it. Two kinds of names are compared less strictly:
//   - activity of other threads than the one with the steps may cross the boundary of a step, so only its median over
//   the
//     steps is compared;
//   - polls (MPI_Test*, MPI_Iprobe, MPI_Waitany, MPI_Waitsome, cudaEventQuery, ...) depend on the time waited and are
//   not
//     compared.
//
// Times: one sample for each step, that of the slowest rank. A time has grown if all of these hold:
//   1. A one-sided Mann-Whitney test (exact without ties, else normal with ties corrected) says that the steps of NEW
//   are
//      longer, at 1 % for the whole table: half of it for the step time, half for all other rows together by Holm's
//      correction. The test uses only the order, since durations have long tails. Holm's correction does not need
//      independent rows, and the rows overlap.
//   2. The medians differ by more than the tolerance (10 %) and the floor (100 us).
//   3. It holds in every third of both runs: the slowest third of BASE is faster than the fastest third of NEW.
//   Adjacent
//      steps resemble each other (a neighbor on the machine, a clock that warms up), which the test takes for evidence;
//      such an excursion does not fill both runs.
//   4. It holds against each run of a baseline with several runs.
//   5. Other processes did not use the machine more (src/analysis/model/machine_load.h): the growth that they do not
//      explain still passes 2. Only traces of profshim contain that.
//   6. The growth is beyond the differences between runs of one program: a CPU that shares its core with another job
//   takes
//      up to twice as long for every step of a run. With three or more runs in the baseline, the median of NEW must be
//      beyond the value of Student's t for the next run (at half of 1 %). With fewer, growth of up to `cpu_noise` times
//      BASE is ignored as far as CPU time grew with it: a thread that sleeps does not use a slower CPU.
// If 1 to 4 hold and 5 or 6 does not, the table says that it cannot tell, which does not fail. 5 and 6 do not apply to
// kernels that do not communicate: they run on no CPU.
// The step time fails on its own, and so do kernels that do not communicate. Other times (calls, ranges, communication)
// contain waits, which move between calls while the step takes as long as before; they fail only together with the step
// time and are a note otherwise. If the runs have too few steps for a significant result, the table says how many are
// needed, which does not fail.
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
  double cpus_used = -1;  // mean number of CPUs that its process used; -1 = unknown
  std::map<std::pair<RowKind, std::string>, ProfileRow> rows;
};

/// Load of the machines of a run while it was recorded, summed over them. Unit: CPUs; 0.5 = one CPU for half of the
/// time.
struct MachineLoad {
  double cpus = 0;    // number of CPUs
  double own = 0;     // used by the recorded ranks
  double others = 0;  // used by all other processes
  double waited = 0;  // ready threads of the ranks that waited for a CPU; may exceed `cpus`
  double stolen = 0;  // the ranks' share of the time that hosts of virtual machines took away
};

/// All traces of one run, by step.
struct RunProfile {
  std::string path;  // as the user named it
  int world_size = -1;
  bool has_steps = false;
  std::size_t files = 0, incomplete_files = 0;
  std::uint64_t dropped = 0;
  std::optional<MachineLoad> machine;  // if known for all ranks
  std::vector<ProfileRank> ranks;      // ordered by rank
};

/// Throws std::runtime_error with one line if a file is not a trace, has no events, ends early, lost events, or belongs
/// to another run. `rules`: lost events do not throw, because [check] judges them.
RunProfile profile_run(const std::vector<std::string>& files, const std::string& path, bool rules = false);

/// Reads one or more runs of the same program. Throws std::runtime_error with one line if the file is not a baseline.
std::vector<RunProfile> read_baseline(const std::string& path);
bool is_baseline(const std::string& path);
std::string baseline_text(const std::vector<RunProfile>& runs);

struct CompareOptions {
  double tolerance = 0.10;
  double floor_us = 100;
  double alpha = 0.01;  // for the whole table
  /// Relative growth of CPU time that is allowed if the baseline has fewer than three runs. 1 = twice as long, as for a
  /// core shared with another job.
  double cpu_noise = 1;
};

/// A row of the table of changes.
struct Change {
  enum class What : std::uint8_t { kRule, kCount, kTime };
  enum class Verdict : std::uint8_t { kRegression, kNote, kCannotTell, kFaster, kSame };
  What what{};
  Verdict verdict{};
  std::string kind, name;               // "call", "MPI_Allreduce"; for a rule its metric and name
  std::optional<double> before, after;  // per step: a count, or microseconds; no value = gone, new, or no baseline
  std::string ranks;                    // "0-3"
  std::string steps;                    // "20 of 20 steps"
  std::optional<double> p;              // of the test
  std::string sentence;                 // a remark for the user
};

struct Comparison {
  std::vector<Change> changes;  // worst first
  std::size_t ranks = 0, steps = 0, names = 0, times = 0, rules = 0;
  std::string unit;                       // "step" or "window"
  std::vector<std::string> not_compared;  // names with counts that depend on timing
  std::vector<std::string> notes;
  bool failed() const;
};

/// Throws std::runtime_error with one line if the runs cannot be compared: different ranks, only one has steps, or no
/// step is in both.
Comparison compare_runs(const std::vector<RunProfile>& base, const RunProfile& run, const CompareOptions& options);
/// Checks the rules of [check]. Relative paths of baselines start at the folder of `spec_path`.
Comparison check_rules(const Spec& spec, const std::string& spec_path, const RunProfile& run,
                       const CompareOptions& options);
/// Adds the rows of `more` to `to`.
void append(Comparison& to, Comparison&& more);

}  // namespace profshim
