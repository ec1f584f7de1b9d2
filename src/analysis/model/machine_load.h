#pragma once

#include <string>
#include <vector>

#include "profshim/analysis/compare.h"
#include "timeline.h"

namespace profshim::analysis_detail {

/// A rank's kineto::CpuUse in one window (profshim/window_trace.h).
struct WindowLoad {
  std::string host;
  int rank = -1;
  double measured_us = 0, waited_us = 0, process_us = 0, machine_us = 0, stolen_us = 0, cpus = 0;
};

std::optional<WindowLoad> window_load(const Timeline& timeline);

/// Returns nullopt if `windows` lacks a rank.
std::optional<MachineLoad> machine_load(const std::vector<WindowLoad>& windows, std::size_t ranks);

/// Returns the mean number of CPUs that `rank` used; -1 = unknown.
double cpus_used(const std::vector<WindowLoad>& windows, int rank);

/// Returns how much the mean step may grow without a change of the program: the sum of the increases of:
///  - Waits of ready threads for a CPU, on all ranks, because ranks wait for each other. The limit is twice the CPU
///    time of other processes, which is counted in ticks of 10 ms.
///  - The job's share of the CPU time that the hypervisor took away.
///  - Shared cores: a thread takes up to twice as long.
double explained_us(const std::optional<MachineLoad>& base, const std::optional<MachineLoad>& run, double base_us,
                    double run_us);

/// Returns the second of these.
double stolen_us(const std::optional<MachineLoad>& base, const std::optional<MachineLoad>& run, double base_us,
                 double run_us);

std::string load_words(const MachineLoad& base, const MachineLoad& run);

}  // namespace profshim::analysis_detail
