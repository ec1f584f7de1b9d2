// Compares a run (NEW) with earlier runs (BASE), or with the rules of a spec. Manual: src/cli/traces/compare.scd.
//
// A kernel counts in the step, and in the phases, that launched it.
//
// A time has one sample per step, from the slowest rank. A time has grown if, against each run of BASE:
//   1. A one-sided Mann-Whitney test finds NEW longer, at 1 % for all tests together: half for the step time, half for
//      all others by Holm's correction.
//   2. The medians differ by more than CompareOptions::tolerance and floor_us.
//   3. The slowest third of BASE is faster than the fastest third of NEW (by medians; a third is consecutive steps). A
//      disturbance does not fill a whole run.
//   4. Rule 2 still holds without the growth explained by the load of other processes
//      (src/analysis/model/machine_load.h).
//   5. The growth exceeds the differences between runs. With three or more runs in BASE, the median of NEW must be
//      beyond Student's t for the next run. With fewer, growth of the step time up to `cpu_noise` times BASE is
//      ignored as far as CPU time grew with it: a CPU that shares its core takes up to twice as long.
// Rules 4 and 5 do not apply to kernels that do not communicate: they run on no CPU.
//
// The CPU time of the steps is a time, too (src/analysis/compare/time_tests.h). Other processes do not raise it, except
// that a shared core takes up to `cpu_noise` times longer. It replaces rules of the other times:
//   3. The fastest tenth of the steps (by their times) must have grown, too.
//   4. Up to `cpu_noise` times BASE is ignored if the machine was busier, and time that the hypervisor took.
//   5. With fewer than three runs, `cpu_noise` is ignored in any case. If instructions are counted and show the growth,
//      `cpu_noise` counts as 0; if they do not, the CPU time is not tested.
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

/// The last three are made from ProfileRank::phases; their names are those of phases.
enum class RowKind : std::uint8_t {
  kCall,
  kRange,
  kRuntime,
  kKernel,
  kCopy,
  kPhase,          // occurrences, and their time on the host
  kPhaseLaunches,  // calls inside that launch kernels or graphs
  kPhaseDevice     // time of the device activity inside
};
std::string_view to_text(RowKind kind);

/// The events of one name on one rank; `count` and `time_ns` have one element per step.
struct ProfileRow {
  std::vector<std::int64_t> count, time_ns;
  bool other_threads = false;  // some events were outside the step thread
};

using RowKey = std::pair<RowKind, std::string>;

/// Sums over all events, or over those inside a phase; the lists have one element per step.
struct ProfileSums {
  std::vector<std::int64_t> communication_ns, launches, mpi_bytes;
  std::map<RowKey, ProfileRow> rows;
};

/// A phase with the phases inside it.
struct ProfilePhase : ProfileSums {
  std::vector<std::int64_t> occurrences, time_ns;  // of occurrences that begin in the step
};

struct ProfileRank : ProfileSums {
  int rank = -1;
  /// Step number, and 0, 1, ... for its repetitions (a job may number the steps of each epoch). Without steps, each
  /// window counts as one. The window of a phase's occurrence has the number of the occurrence.
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  std::vector<std::int64_t> step_ns;
  // The thread that runs the steps has these, one element per step. Empty or -1 = unknown.
  std::vector<std::int64_t> cpu_ns, instructions;
  std::vector<std::int64_t> waiting_ns;  // in calls that communicate or are CUDA's; empty if cpu_ns is
  double cpus_used = -1;                 // -1 = unknown
  std::map<std::string, ProfilePhase> phases;
};

/// Sums over the machines of a run, in CPUs: 0.5 = one CPU for half of the time.
struct MachineLoad {
  double cpus = 0;
  double own = 0;  // used by the recorded ranks
  double others = 0;
  double waited = 0;  // ready threads that waited for a CPU; may exceed `cpus`
  double stolen = 0;  // taken from the ranks by hosts of virtual machines
};

struct RunProfile {
  std::string path;
  std::string phase;  // whose windows the traces are; "" = windows of steps
  int world_size = -1;
  bool has_steps = false;
  std::size_t files = 0, incomplete_files = 0;
  std::uint64_t dropped = 0;
  std::optional<MachineLoad> machine;
  std::vector<ProfileRank> ranks;  // sorted by rank
  std::vector<std::string> notes;  // on traces without anything to compare; baselines lack them
};

/// Throws std::runtime_error if a file is not a trace, has no events, ends early, lost events, or belongs to another
/// run. With `rules`, lost events do not throw: [check] judges them.
RunProfile profile_run(const std::vector<std::string>& files, const std::string& path, bool rules = false);

/// Throws std::runtime_error if the file is not a baseline.
std::vector<RunProfile> read_baseline(const std::string& path);
bool is_baseline(const std::string& path);
std::string baseline_text(const std::vector<RunProfile>& runs);

struct CompareOptions {
  double tolerance = 0.10;
  double floor_us = 100;
  double alpha = 0.01;
  /// See rule 5 above; 1 = growth to twice BASE.
  double cpu_noise = 1;
};

struct Change {
  enum class What : std::uint8_t { kRule, kCount, kTime };
  enum class Verdict : std::uint8_t { kRegression, kNote, kCannotTell, kFaster, kSame };
  What what{};
  Verdict verdict{};
  std::string kind, name;               // "call", "MPI_Allreduce"; for a rule its metric and name
  std::string phase;                    // of a rule
  std::optional<double> before, after;  // per step: a count or microseconds; no value = gone, new, or no baseline
  std::string ranks;
  std::string steps;  // "20 of 20 steps"
  std::optional<double> p;
  std::string sentence;
};

struct Comparison {
  std::vector<Change> changes;  // worst first
  std::size_t ranks = 0, steps = 0, names = 0, times = 0, rules = 0;
  std::string unit;                       // "step" or "window"
  std::vector<std::string> not_compared;  // names whose counts depend on timing
  std::vector<std::string> notes;
  bool failed() const;
};

/// Throws std::runtime_error if the ranks differ, only one run has steps, or no step is in both.
Comparison compare_runs(const std::vector<RunProfile>& base, const RunProfile& run, const CompareOptions& options);
/// Relative paths of baselines start at the folder of `spec_path`.
Comparison check_rules(const Spec& spec, const std::string& spec_path, const RunProfile& run,
                       const CompareOptions& options);
void append(Comparison& to, Comparison&& more);

}  // namespace profshim
