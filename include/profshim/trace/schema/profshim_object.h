// Keys of the object "profshim" of a trace.
#pragma once

#include <string_view>

namespace profshim::schema {

/// Members of "profshim".
namespace ours {
inline constexpr std::string_view kVersion = "version";
inline constexpr std::string_view kRunName = "run_name";
inline constexpr std::string_view kRunId = "run_id";     // random: two runs have the same name, but not the same id
inline constexpr std::string_view kAttempt = "attempt";  // of torchrun --max-restarts: 0, 1, ...
inline constexpr std::string_view kCommand = "command";
inline constexpr std::string_view kRankSource = "rank_source";
inline constexpr std::string_view kLocalRank = "local_rank";
inline constexpr std::string_view kLocalWorldSize = "local_world_size";
inline constexpr std::string_view kNodeRank = "node_rank";
inline constexpr std::string_view kWindow = "window";
inline constexpr std::string_view kComplete = "complete";
/// A list of sentences, one for each thing that the spec asks for and the trace lacks; absent if complete.
inline constexpr std::string_view kMissing = "missing";
inline constexpr std::string_view kMissingPathStart = "missing.";
inline constexpr std::string_view kTruncated = "truncated";
inline constexpr std::string_view kLimit = "limit";
inline constexpr std::string_view kRecovered = "recovered";
inline constexpr std::string_view kCalls = "calls";
inline constexpr std::string_view kDroppedEvents = "dropped_events";
// The reader takes these keys for dropped_events, too.
inline constexpr std::string_view kDropped = "dropped";
inline constexpr std::string_view kDroppedTotal = "dropped.total";
inline constexpr std::string_view kMemoryEntriesLeftOut = "memory_entries_left_out";
/// Events that the spec leaves out (capture.include, exclude, min_us).
namespace left_out {
inline constexpr std::string_view kKey = "left_out";
inline constexpr std::string_view kEvents = "events";
inline constexpr std::string_view kUs = "us";
inline constexpr std::string_view kCategories = "categories";
inline constexpr std::string_view kPathStart = "left_out.";
inline constexpr std::string_view kEventsPath = "left_out.events";
}  // namespace left_out
inline constexpr std::string_view kThreadsLost = "threads_lost";
inline constexpr std::string_view kOverheadPercent = "overhead_percent";
inline constexpr std::string_view kStallUs = "stall_us";
inline constexpr std::string_view kSpec = "spec";
inline constexpr std::string_view kSpecHash = "spec_hash";
inline constexpr std::string_view kLateBegins = "gpu_recorded_after_us";
inline constexpr std::string_view kCudaMps = "cuda_mps";
inline constexpr std::string_view kNcclProfilerVersion = "nccl_profiler_version";
inline constexpr std::string_view kTorchVersion = "torch_version";
inline constexpr std::string_view kRpcWorker = "rpc_worker";
inline constexpr std::string_view kMessagesWithoutArrows = "messages_without_arrows";  // merged traces

namespace steps {
inline constexpr std::string_view kKey = "steps";
inline constexpr std::string_view kSource = "source";
inline constexpr std::string_view kSourcePath = "steps.source";
inline constexpr std::string_view kFirst = "first";
inline constexpr std::string_view kLast = "last";
inline constexpr std::string_view kFirstIndex = "first_index";
inline constexpr std::string_view kLastIndex = "last_index";
inline constexpr std::string_view kFirstMarker = "first_marker";
inline constexpr std::string_view kFirstMarkerPath = "steps.first_marker";
inline constexpr std::string_view kConfidence = "confidence";
inline constexpr std::string_view kOtherBoundaries = "boundaries_of_other_threads";
}  // namespace steps

/// Members "steps_symbol", "steps_symbol_2", ...: functions that begin steps.
namespace step_symbol {
inline constexpr std::string_view kKeyStart = "steps_symbol";
inline constexpr std::string_view kName = "name";
inline constexpr std::string_view kModule = "module";
}  // namespace step_symbol

namespace recorded {
inline constexpr std::string_view kKey = "scope";
inline constexpr std::string_view kActivities = "recorded";
inline constexpr std::string_view kRole = "role";
inline constexpr std::string_view kRolePath = "scope.role";
}  // namespace recorded

namespace nccl_tasks {
inline constexpr std::string_view kKey = "nccl_tasks";
inline constexpr std::string_view kSeen = "seen";
inline constexpr std::string_view kJoined = "joined";
}  // namespace nccl_tasks

namespace device_timing {
inline constexpr std::string_view kKey = "device_timing";
inline constexpr std::string_view kMethod = "method";
inline constexpr std::string_view kClock = "clock";
}  // namespace device_timing

/// Counts since the process began.
namespace gpu_losses {
inline constexpr std::string_view kKey = "gpu_losses";
inline constexpr std::string_view kByCupti = "dropped_by_cupti";
inline constexpr std::string_view kNoTime = "no_time";
inline constexpr std::string_view kEndBeforeBegin = "end_before_begin";
inline constexpr std::string_view kOutside = "outside";
inline constexpr std::string_view kLaunches = "launches_without_work";
inline constexpr std::string_view kUnknownThreads = "calls_of_unknown_threads";
inline constexpr std::string_view kKeptBuffers = "buffers_kept";
inline constexpr std::string_view kGraphs = "graphs_without_work";
inline constexpr std::string_view kCopies = "copies_without_work";
inline constexpr std::string_view kRepeatedIds = "launches_with_repeated_id";
inline constexpr std::string_view kUncertainGraphNodes = "uncertain_graph_nodes";
inline constexpr std::string_view kRefusedFlushes = "refused_flushes";
inline constexpr std::string_view kUnknownRecords = "unknown_records";
inline constexpr std::string_view kTruncatedBuffers = "truncated_buffers";
inline constexpr std::string_view kRefusedBuffers = "buffers_refused";
inline constexpr std::string_view kReserveBuffers = "buffers_from_reserve";
inline constexpr std::string_view kOverwrittenBuffers = "buffers_overwritten";
inline constexpr std::string_view kUnreadBuffers = "buffers_unread";
inline constexpr std::string_view kForeignBuffers = "foreign_buffers";
}  // namespace gpu_losses

namespace problem {
inline constexpr std::string_view kKey = "problems";
inline constexpr std::string_view kPathStart = "problems.";
inline constexpr std::string_view kSource = "source";
inline constexpr std::string_view kLost = "lost";
inline constexpr std::string_view kLostPathEnd = ".lost";
}  // namespace problem

namespace device_activity {
inline constexpr std::string_view kKey = "device";
inline constexpr std::string_view kApiCalls = "api_calls";
inline constexpr std::string_view kKernels = "kernels";
inline constexpr std::string_view kCopies = "copies";
inline constexpr std::string_view kMemsets = "memsets";
inline constexpr std::string_view kGraphsAsOne = "graphs_as_one";
inline constexpr std::string_view kOrphans = "device_orphans";
inline constexpr std::string_view kOverlaps = "device_overlaps";
inline constexpr std::string_view kSyncsWithoutDevice = "syncs_without_device";
inline constexpr std::string_view kImpossibleTimes = "impossible_times";
inline constexpr std::string_view kZero = "zero";
inline constexpr std::string_view kReversed = "reversed";
inline constexpr std::string_view kOutside = "outside";
inline constexpr std::string_view kLostInProcess = "lost_in_process";
}  // namespace device_activity

namespace clock {
inline constexpr std::string_view kKey = "clock";
inline constexpr std::string_view kKind = "kind";
inline constexpr std::string_view kTicksPerNs = "ticks_per_ns";
inline constexpr std::string_view kWallClockShift = "wall_clock_shift_ns";
inline constexpr std::string_view kAnchors = "anchors";
}  // namespace clock

namespace cpu {
inline constexpr std::string_view kKey = "cpu";
inline constexpr std::string_view kMeasured = "measured_us";
inline constexpr std::string_view kWaited = "waited_us";
inline constexpr std::string_view kProcess = "process_us";
inline constexpr std::string_view kMachine = "machine_us";
inline constexpr std::string_view kStolen = "stolen_us";
inline constexpr std::string_view kCpus = "cpus";
inline constexpr std::string_view kMeasuredPath = "cpu.measured_us";
inline constexpr std::string_view kWaitedPath = "cpu.waited_us";
inline constexpr std::string_view kProcessPath = "cpu.process_us";
inline constexpr std::string_view kMachinePath = "cpu.machine_us";
inline constexpr std::string_view kStolenPath = "cpu.stolen_us";
inline constexpr std::string_view kCpusPath = "cpu.cpus";
}  // namespace cpu

/// "phase": {…}, in the trace of a phase's window.
namespace phase {
inline constexpr std::string_view kKey = "phase";
inline constexpr std::string_view kNamePath = "phase.name";
inline constexpr std::string_view kName = "name";
inline constexpr std::string_view kOccurrence = "occurrence";  // counts from 0 over the run
inline constexpr std::string_view kOccurrencePath = "phase.occurrence";
inline constexpr std::string_view kStep = "step";  // in which the window began
inline constexpr std::string_view kFirstTick = "first_tick";
inline constexpr std::string_view kFirstTickPath = "phase.first_tick";
inline constexpr std::string_view kTicks = "ticks";
inline constexpr std::string_view kUnclosed = "unclosed";             // true: the end of the phase was not seen
inline constexpr std::string_view kMaxSeconds = "phase.max_seconds";  // value of "limit"
}  // namespace phase

namespace merged {
inline constexpr std::string_view kKey = "merged";
inline constexpr std::string_view kPathStart = "merged.";
inline constexpr std::string_view kRank = "rank";
inline constexpr std::string_view kFile = "file";
inline constexpr std::string_view kHost = "host";
inline constexpr std::string_view kFirstPid = "first_pid";
inline constexpr std::string_view kEvents = "events";
inline constexpr std::string_view kClock = "clock";
inline constexpr std::string_view kMoments = "moments";
inline constexpr std::string_view kOffsetUs = "offset_us";
inline constexpr std::string_view kOffsetAtNs = "offset_at_ns";
inline constexpr std::string_view kDriftPpm = "drift_ppm";
inline constexpr std::string_view kErrorUs = "error_us";
inline constexpr std::string_view kProfshim = "profshim";  // "profshim" of the rank's own trace
inline constexpr std::string_view kProfshimPathPart = ".profshim.";
}  // namespace merged
}  // namespace ours

}  // namespace profshim::schema
