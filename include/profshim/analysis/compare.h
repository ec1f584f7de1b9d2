// Two runs against each other, or one against rules: the gate of a CI. Tool only.
//
// Counts. How often each name occurs in each step of each rank: operators, calls of MPI and of the runtime, NVTX
// ranges, kernels, copies. They do not vary between runs of one program, so any difference fails. A kernel belongs to
// the step that launched it. Two kinds of names are held to less:
//   - what other threads than the one of the steps did (and launched) may cross a step's boundary from run to run: of
//     those the median over the steps is compared;
//   - how often a program polls depends on how long it waits (MPI_Test*, MPI_Iprobe, MPI_Waitany, MPI_Waitsome,
//     cudaEventQuery, ...): not compared.
//
// Times, with a sample for each step: that of the slowest rank. A time has grown when all of this holds:
//   1. a one-sided Mann-Whitney test (exact without ties, else normal with ties corrected) says that the steps of NEW
//      are longer, at 1 % for the whole table: half of it is the step time's, half is for all other rows together, by
//      Holm's correction. The test goes by order only, since durations have long tails; Holm's correction needs no
//      independence of the rows, which overlap;
//   2. the medians differ by more than the tolerance (10 %) and by more than the floor (100 us): what is real but small
//      fails nobody;
//   3. it holds in every third of both runs: the slowest third of BASE is faster than the fastest third of NEW. Steps
//      that follow each other resemble each other (a neighbor on the machine, a clock that warms up), which the test
//      takes for evidence; an excursion of that kind does not fill both runs;
//   4. with a baseline of several runs, against each of them;
//   5. others did not use the machine more (src/analysis/model/machine_load.h): what is left of the growth without what
//   that
//      explains has to pass 2. Traces of ours alone tell;
//   6. runs of one program do not differ as much, which no single run shows: a CPU that shares its core with a stranger
//      takes up to twice as long for every step of a run. Three or more runs of a baseline tell: the median of NEW is
//      beyond what Student's t gives for the next one of them (at half of 1 %). With fewer, growth of up to
//      `cpu_noise` times BASE is not counted, as far as CPU time grew with it: who sleeps does not use a slower CPU.
// Where 1 to 4 hold and 5 or 6 does not, the table says that it cannot tell; that fails nobody. Kernels that do not
// communicate are left out of 5 and 6: they run on no CPU.
// The step time fails on its own, and so do kernels that do not communicate. Other times (calls, ranges, communication)
// hold waits, which wander from call to call while the step takes as long as before: they fail only together with the
// step time and are else said as a note. Where so few steps were recorded that no outcome could be significant, the
// table says so, and how many it takes; that fails nobody.
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

/// One name of one rank; per step of the rank.
struct ProfileRow {
  std::vector<std::int64_t> count, time_ns;
  bool other_threads = false;  // not all of it by the thread that the steps are of
};

struct ProfileRank {
  int rank = -1;
  /// Number of the step and, where a run has it several times (schedule.per = "epoch"), which of them. Without steps
  /// the windows.
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  std::vector<std::int64_t> step_ns, communication_ns, launches, mpi_bytes;
  double cpus_used = -1;  // by its process, in the mean; -1 = the traces do not say it
  std::map<std::pair<RowKind, std::string>, ProfileRow> rows;
};

/// How busy the machines of a run were while it was recorded, summed over them, in CPUs: 0.5 = half of the time of one.
struct MachineLoad {
  double cpus = 0;    // there are
  double own = 0;     // used by the ranks that were recorded
  double others = 0;  // used by all else
  double waited = 0;  // threads of the ranks were ready and something else ran: may be more than there are CPUs
  double stolen = 0;  // the ranks' share of what the hosts of virtual machines took away
};

/// All traces of one run, step by step.
struct RunProfile {
  std::string path;  // as it was named
  int world_size = -1;
  bool has_steps = false;
  std::size_t files = 0, incomplete_files = 0;
  std::uint64_t dropped = 0;
  std::optional<MachineLoad> machine;  // where all ranks say it
  std::vector<ProfileRank> ranks;      // by rank
};

/// Throws std::runtime_error with one line: what is no trace, holds no events, is cut off, lost events (`rules` = that
/// is for the rules to say), or belongs to another run than the rest.
RunProfile profile_run(const std::vector<std::string>& files, const std::string& path, bool rules = false);

/// A baseline: one or more runs of the same program. Throws with one line when the file is none.
std::vector<RunProfile> read_baseline(const std::string& path);
bool is_baseline(const std::string& path);
std::string baseline_text(const std::vector<RunProfile>& runs);

struct CompareOptions {
  double tolerance = 0.10;
  double floor_us = 100;
  double alpha = 0.01;  // for the whole table
  /// By how much the CPU time of one program may differ between runs, where no baseline of three or more tells: 1 =
  /// twice as long, which is what sharing a core with a stranger does.
  double cpu_noise = 1;
};

/// A row of the table of what changed.
struct Change {
  enum class What : std::uint8_t { kRule, kCount, kTime };
  enum class Verdict : std::uint8_t { kRegression, kNote, kCannotTell, kFaster, kSame };
  What what{};
  Verdict verdict{};
  std::string kind, name;               // "call", "MPI_Allreduce"; of a rule its metric and name
  std::optional<double> before, after;  // per step: a count, or microseconds; none = gone or new, no baseline
  std::string ranks;                    // "0-3"
  std::string steps;                    // "20 of 20 steps"
  std::optional<double> p;              // of the test
  std::string sentence;                 // what a person wants to know besides
};

struct Comparison {
  std::vector<Change> changes;  // worst first
  std::size_t ranks = 0, steps = 0, names = 0, times = 0, rules = 0;
  std::string unit;                       // "step" or "window"
  std::vector<std::string> not_compared;  // names whose count depends on timing
  std::vector<std::string> notes;
  bool failed() const;
};

/// Throws with one line when the two cannot be compared: other ranks, steps against none, no step in common.
Comparison compare_runs(const std::vector<RunProfile>& base, const RunProfile& run, const CompareOptions& options);
/// [check] of a spec. Relative baselines start at `folder`; `spec_path` is for messages.
Comparison check_rules(const Spec& spec, const std::string& spec_path, const RunProfile& run,
                       const CompareOptions& options);
/// Both in one table.
void append(Comparison& to, Comparison&& more);

}  // namespace profshim
