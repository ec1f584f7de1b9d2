// Computes the load of the machines of a run, and how much of a longer run time it explains.
#pragma once

#include <string>
#include <vector>

#include "profshim/analysis/compare.h"
#include "timeline.h"

namespace profshim::analysis_detail {

/// CPU use during the window of one trace. All times are sums over its threads and CPUs.
struct WindowLoad {
  std::string host;
  int rank = -1;
  double measured_us = 0, waited_us = 0, process_us = 0, machine_us = 0, stolen_us = 0, cpus = 0;
};

/// Reads the "profshim" object of a trace; returns nothing for traces of others.
std::optional<WindowLoad> window_load(const Timeline& timeline);

/// Adds up all windows of all ranks; returns nothing if the load of a rank is unknown.
std::optional<MachineLoad> machine_load(const std::vector<WindowLoad>& windows, std::size_t ranks);

/// Returns how many CPUs the process of a rank used on average; -1 = unknown.
double cpus_used(const std::vector<WindowLoad>& windows, int rank);

/// Returns an upper bound for how much longer steps can take (mean `base_us` before, `run_us` now) although the program
/// is the same. Adds up three causes:
///  - Threads of the job were ready and waited longer for a CPU. That time is summed over the ranks, since they wait
///  for
///    each other one after the other. It counts up to twice the time that other processes ran (the machine counts in
///    ticks of 10 ms): if the threads of the job are in each other's way, the program has become slower.
///  - The host of the virtual machine took CPUs away: the job's share of that time.
///  - Two hardware threads of one core take up to twice as long as one alone, and a virtual machine does not tell which
///    ones share a core. So the part of the job that other processes may have shared cores with takes up to twice as
///    long.
double explained_us(const std::optional<MachineLoad>& base, const std::optional<MachineLoad>& run, double base_us,
                    double run_us);

/// Returns for example "other processes used 2.9 of 4 CPUs (before 0.1), threads of the job waited 0.42 s for a CPU in
/// each second (before 0.01)".
std::string load_words(const MachineLoad& base, const MachineLoad& run);

}  // namespace profshim::analysis_detail
