// How busy the machine was while a run was recorded, and how much longer it would take for that alone.
#pragma once

#include <string>
#include <vector>

#include "profshim/analysis/compare.h"
#include "timeline.h"

namespace profshim::analysis_detail {

/// CPU use during the window of one trace, as profshim wrote it (kineto::CpuUse).
struct WindowLoad {
  std::string host;
  int rank = -1;
  double measured_us = 0, waited_us = 0, process_us = 0, machine_us = 0, stolen_us = 0, cpus = 0;
};

/// From the "profshim" object of a trace; nothing in traces of others.
std::optional<WindowLoad> window_load(const Timeline& timeline);

/// Of all windows of all ranks; nothing where one of the ranks does not say it.
std::optional<MachineLoad> machine_load(const std::vector<WindowLoad>& windows, std::size_t ranks);

/// By the process of a rank, in the mean over its windows; -1 where they do not say it.
double cpus_used(const std::vector<WindowLoad>& windows, int rank);

/// By how much steps of `base_us` in the mean may have become steps of `run_us` without the program having changed, at
/// most. Three parts:
///   - threads of the job were ready and waited for a CPU for so much longer, summed over the ranks, since they wait
///   for
///     each other one after the other. But no more than others can have caused: while a thread waits for what is not of
///     the job, that runs (twice that, since the machine counts in ticks of 10 ms). A job whose own threads are in each
///     other's way on a machine that nobody else uses has become slower;
///   - the host of the virtual machine took CPUs away: the job's share of that;
///   - two hardware threads of one core take up to twice as long as each alone, and which are of one core a virtual
///     machine does not say: for as much of the job as others may have shared a core with.
double explained_us(const std::optional<MachineLoad>& base, const std::optional<MachineLoad>& run, double base_us,
                    double run_us);

/// "other processes used 2.9 of 4 CPUs (before 0.1), threads of the job waited 0.42 s for a CPU in each second (before
/// 0.01)"
std::string load_words(const MachineLoad& base, const MachineLoad& run);

}  // namespace profshim::analysis_detail
