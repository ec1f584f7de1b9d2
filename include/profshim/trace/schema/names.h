// Names of events and of counters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profshim::schema {

namespace metadata {
inline constexpr std::string_view kProcessName = "process_name";
inline constexpr std::string_view kProcessLabels = "process_labels";
inline constexpr std::string_view kProcessSortIndex = "process_sort_index";
inline constexpr std::string_view kThreadName = "thread_name";
inline constexpr std::string_view kThreadSortIndex = "thread_sort_index";
}  // namespace metadata

/// Names of processes and tracks; a number or a name follows.
namespace track {
inline constexpr std::string_view kRankStart = "rank ";
inline constexpr std::string_view kGpuStart = "GPU ";
inline constexpr std::string_view kThreadStart = "thread ";
inline constexpr std::string_view kStreamStart = "stream ";
inline constexpr std::string_view kPhaseStart = "phase ";
inline constexpr std::string_view kOverflow = " overlapping ";  // of the track before it
inline constexpr std::string_view kSyncEnd = " (sync)";
inline constexpr std::string_view kDeviceSync = "device (sync)";
inline constexpr std::string_view kRawThreadEnd = " (CUPTI's number, tid not known)";
}  // namespace track
/// Returns "stream 7" for kStreamStart and 7.
inline std::string numbered(std::string_view start, std::int64_t number) {
  return std::string(start) += std::to_string(number);
}

namespace name {
inline constexpr std::string_view kModuleStart = "nn.Module: ";
inline constexpr std::string_view kStepStart = "ProfilerStep#";  // the step number follows
inline constexpr std::string_view kStepWord = "ProfilerStep";
inline constexpr std::string_view kWindowSpan = "PyTorch Profiler (0)";
inline constexpr std::string_view kWindowStart = "Iteration Start: ";  // kProfiler follows
inline constexpr std::string_view kWindowEnd = "Record Window End";
inline constexpr std::string_view kProfiler = "PyTorch Profiler";
inline constexpr std::string_view kSpansPid = "Spans";
inline constexpr std::string_view kTracesPid = "Traces";
inline constexpr std::string_view kCommunication = "record_param_comms";
inline constexpr std::string_view kMemory = "[memory]";
inline constexpr std::string_view kOutOfMemory = "[OutOfMemory]";
// PyTorch's names of ranges and functions begin with these.
inline constexpr std::string_view kOptimizerStepStart = "Optimizer.step#";
inline constexpr std::string_view kBackwardStart = "autograd::engine::evaluate_function";
inline constexpr std::string_view kDataLoaderStart = "enumerate(DataLoader)";
inline constexpr std::string_view kMpiPolling = "MPI polling";  // many calls such as MPI_Test
inline constexpr std::string_view kMpiStart = "MPI_";
inline constexpr std::string_view kNcclStart = "nccl";
inline constexpr std::string_view kC10dStart = "c10d::";
inline constexpr std::string_view kGlooStart = "gloo:";
inline constexpr std::string_view kMemcpyStart = "Memcpy ";
inline constexpr std::string_view kMemsetStart = "Memset";
inline constexpr std::string_view kEventSync = "Event Sync";
inline constexpr std::string_view kStreamWaitEvent = "Stream Wait Event";
inline constexpr std::string_view kContextSync = "Context Sync";
inline constexpr std::string_view kPid2019 = "CPU functions";  // pid of PyTorch before Kineto
}  // namespace name

/// Names of counters ("C" events). Their one argument has the value; its key is the unit.
namespace counter {
inline constexpr std::string_view kProcessCpu = "process CPU";
inline constexpr std::string_view kProcessSystemCpu = "process CPU in the kernel";
inline constexpr std::string_view kProcessThreads = "process threads";
inline constexpr std::string_view kMachineCpu = "machine CPU";
inline constexpr std::string_view kProcessMemory = "process memory";
inline constexpr std::string_view kProcessMemoryPeak = "process memory peak";
inline constexpr std::string_view kMachineMemory = "machine memory available";
inline constexpr std::string_view kCgroupMemory = "cgroup memory";
inline constexpr std::string_view kDiskRead = "process disk reads";
inline constexpr std::string_view kDiskWritten = "process disk writes";
inline constexpr std::string_view kNetReceived = "machine network received";
inline constexpr std::string_view kNetSent = "machine network sent";
inline constexpr std::string_view kGpuStart = "GPU ";  // the CUDA device and one of the following
inline constexpr std::string_view kGpuUse = " utilization";
inline constexpr std::string_view kGpuMemory = " memory";
inline constexpr std::string_view kGpuSmClock = " SM clock";
inline constexpr std::string_view kGpuMemoryClock = " memory clock";
inline constexpr std::string_view kGpuPower = " power";
}  // namespace counter
namespace unit {
inline constexpr std::string_view kPercent = "%";
inline constexpr std::string_view kNumber = "number";
inline constexpr std::string_view kBytes = "bytes";
inline constexpr std::string_view kBytesPerSecond = "bytes/s";
inline constexpr std::string_view kMegahertz = "MHz";
inline constexpr std::string_view kWatts = "W";
}  // namespace unit

/// Between the names of "outer phases". No name has it.
inline constexpr std::string_view kPhaseSeparator = ", ";

}  // namespace profshim::schema
