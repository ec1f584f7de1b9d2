// Keys, categories and event names of the Kineto trace format, and the order of the file:
//
//   {
//   "schemaVersion": 1,                      first: readers recognize the format by it
//   "deviceProperties": [{"id": 0, …}],      required by torch._inductor; one element per GPU
//   "distributedInfo": {"backend": …, "rank": 3, "world_size": 8, "pg_count": 1, "pg_config": […]},
//   "host_name": "node7",
//   "cupti_version": 130001,                 and other TraceHeader::members
//   "profshim": {…},                         members: namespace ours
//   "displayTimeUnit": "ms",                 with "ns", older Perfetto scales ts
//   "baseTimeNanoseconds": 1711964646000000000,
//   "traceEvents": [
//   …                                        one event per line
//   ],
//   "traceName": "…/rank3.11.pt.trace.json"  left out if the path holds a ']'
//   }
//
//  * HTA searches the text for  "rank":\s+\d+  (first match), so a blank must follow the colon. Its metadata parser
//    stops at traceEvents.
//  * torch_tb_profiler 0.4.3 inserts text before the last ']', which must be that of traceEvents.
//  * Readers keep times as doubles. ts is relative to baseTimeNanoseconds, else nanoseconds would be lost.
#pragma once

#include <cstdint>
#include <string_view>

#include "profshim/trace/events.h"

namespace profshim::schema {

namespace top {
inline constexpr std::string_view kSchemaVersion = "schemaVersion";
inline constexpr std::string_view kDeviceProperties = "deviceProperties";
inline constexpr std::string_view kDistributedInfo = "distributedInfo";
inline constexpr std::string_view kHostName = "host_name";
inline constexpr std::string_view kProfshim = "profshim";
inline constexpr std::string_view kDisplayTimeUnit = "displayTimeUnit";
inline constexpr std::string_view kBaseTime = "baseTimeNanoseconds";
inline constexpr std::string_view kTraceEvents = "traceEvents";
inline constexpr std::string_view kTraceName = "traceName";
inline constexpr std::string_view kCuptiVersion = "cupti_version";
inline constexpr std::string_view kCudaRuntimeVersion = "cuda_runtime_version";
inline constexpr std::string_view kCudaDriverVersion = "cuda_driver_version";
inline constexpr std::string_view kRecordShapes = "record_shapes";
inline constexpr std::string_view kWithFlops = "with_flops";
inline constexpr std::string_view kWithStack = "with_stack";
inline constexpr std::string_view kWithModules = "with_modules";
inline constexpr std::string_view kProfileMemory = "profile_memory";
}  // namespace top

namespace event {
inline constexpr std::string_view kPhase = "ph";
inline constexpr std::string_view kCategory = "cat";
inline constexpr std::string_view kName = "name";
inline constexpr std::string_view kPid = "pid";
inline constexpr std::string_view kTid = "tid";
inline constexpr std::string_view kTimestamp = "ts";  // microseconds since baseTimeNanoseconds, three decimals
inline constexpr std::string_view kDuration = "dur";  // microseconds, three decimals
inline constexpr std::string_view kId = "id";
inline constexpr std::string_view kScopedId = "id2";  // {"local": "0x1f"}: id within one process
inline constexpr std::string_view kScope = "s";
inline constexpr std::string_view kBindingPoint = "bp";
inline constexpr std::string_view kArgs = "args";
// Members of id2.
inline constexpr std::string_view kLocal = "local";
inline constexpr std::string_view kGlobal = "global";
}  // namespace event

/// Members of distributedInfo and of pg_config's elements.
namespace distributed {
inline constexpr std::string_view kBackend = "backend";
inline constexpr std::string_view kRank = "rank";
inline constexpr std::string_view kWorldSize = "world_size";
inline constexpr std::string_view kGroupCount = "pg_count";
inline constexpr std::string_view kGroups = "pg_config";
inline constexpr std::string_view kNcclVersion = "nccl_version";
inline constexpr std::string_view kGroupName = "pg_name";
inline constexpr std::string_view kGroupDescription = "pg_desc";
inline constexpr std::string_view kGroupBackend = "backend_config";
inline constexpr std::string_view kGroupSize = "pg_size";
inline constexpr std::string_view kGroupRanks = "ranks";
inline constexpr std::string_view kNcclBackend = "nccl";
}  // namespace distributed

/// Members of deviceProperties' elements.
namespace device {
inline constexpr std::string_view kId = "id";
inline constexpr std::string_view kName = "name";
inline constexpr std::string_view kTotalMemory = "totalGlobalMem";
inline constexpr std::string_view kComputeMajor = "computeMajor";
inline constexpr std::string_view kComputeMinor = "computeMinor";
inline constexpr std::string_view kMaxThreadsPerBlock = "maxThreadsPerBlock";
inline constexpr std::string_view kMaxThreadsPerSm = "maxThreadsPerMultiprocessor";
inline constexpr std::string_view kRegistersPerBlock = "regsPerBlock";
inline constexpr std::string_view kRegistersPerSm = "regsPerMultiprocessor";
inline constexpr std::string_view kWarpSize = "warpSize";
inline constexpr std::string_view kSharedMemoryPerBlock = "sharedMemPerBlock";
inline constexpr std::string_view kSharedMemoryPerBlockOptin = "sharedMemPerBlockOptin";
inline constexpr std::string_view kSharedMemoryPerSm = "sharedMemPerMultiprocessor";
inline constexpr std::string_view kSmCount = "numSms";
// Not written by Kineto.
inline constexpr std::string_view kUuid = "uuid";
inline constexpr std::string_view kMigUuid = "migUuid";
inline constexpr std::string_view kGpuInstance = "gpuInstanceId";
inline constexpr std::string_view kComputeInstance = "computeInstanceId";
}  // namespace device

/// Members of "profshim".
namespace ours {
inline constexpr std::string_view kVersion = "version";
inline constexpr std::string_view kRunName = "run_name";
inline constexpr std::string_view kCommand = "command";
inline constexpr std::string_view kRankSource = "rank_source";
inline constexpr std::string_view kLocalRank = "local_rank";
inline constexpr std::string_view kLocalWorldSize = "local_world_size";
inline constexpr std::string_view kNodeRank = "node_rank";
inline constexpr std::string_view kWindow = "window";
inline constexpr std::string_view kComplete = "complete";
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
inline constexpr std::string_view kNamesLost = "names_lost";
inline constexpr std::string_view kDefinitionsLost = "definitions_lost";
inline constexpr std::string_view kThreadsLost = "threads_lost";
inline constexpr std::string_view kPendingLost = "pending_lost";
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

namespace arg {
// Several layers.
inline constexpr std::string_view kBytes = "bytes";
inline constexpr std::string_view kCount = "count";
inline constexpr std::string_view kFailed = "failed";
inline constexpr std::string_view kFinished = "finished";
inline constexpr std::string_view kResult = "result";
inline constexpr std::string_view kSeenBy = "seen by";
inline constexpr std::string_view kSequence = "Seq";
inline constexpr std::string_view kCallStack = "Call stack";
inline constexpr std::string_view kCallFrom = "CallFrom";
inline constexpr std::string_view kPythonId = "Python id";
inline constexpr std::string_view kPythonParentId = "Python parent id";
inline constexpr std::string_view kPythonModuleId = "Python module id";
inline constexpr std::string_view kNativeStack = "Native stack";
inline constexpr std::string_view kModuleHierarchy = "Module Hierarchy";
// MPI. NCCL uses the communicator's keys too.
inline constexpr std::string_view kComm = "comm";
inline constexpr std::string_view kCommId = "comm id";
inline constexpr std::string_view kDatatype = "datatype";
inline constexpr std::string_view kOp = "op";
inline constexpr std::string_view kTag = "tag";
inline constexpr std::string_view kRoot = "root";
inline constexpr std::string_view kPeer = "peer";
inline constexpr std::string_view kDest = "dest";
inline constexpr std::string_view kSource = "source";
inline constexpr std::string_view kTarget = "target";
inline constexpr std::string_view kReceivedBytes = "recv bytes";
inline constexpr std::string_view kReceivedCount = "recv count";
inline constexpr std::string_view kReceivedDatatype = "recv datatype";
inline constexpr std::string_view kReceivedTag = "recv tag";
inline constexpr std::string_view kRequest = "request";
inline constexpr std::string_view kBinding = "binding";
inline constexpr std::string_view kInCallsUs = "in calls (us)";
// NCCL and torch.distributed: c10d's names.
inline constexpr std::string_view kCollective = "Collective name";
inline constexpr std::string_view kInElements = "In msg nelems";
inline constexpr std::string_view kOutElements = "Out msg nelems";
inline constexpr std::string_view kInSplit = "In split size";
inline constexpr std::string_view kOutSplit = "Out split size";
inline constexpr std::string_view kGroupSize = "Group size";
inline constexpr std::string_view kDtype = "dtype";
inline constexpr std::string_view kGroupName = "Process Group Name";
inline constexpr std::string_view kGroupDescription = "Process Group Description";
inline constexpr std::string_view kGroupRanks = "Process Group Ranks";
inline constexpr std::string_view kRank = "Rank";
inline constexpr std::string_view kRootRank = "Root Rank";
inline constexpr std::string_view kSourceRank = "Src Rank";
inline constexpr std::string_view kDestinationRank = "Dst Rank";
inline constexpr std::string_view kCommsId = "Comms Id";
inline constexpr std::string_view kAlgorithmBandwidth = "algorithm bandwidth (GB/s)";
inline constexpr std::string_view kBusBandwidth = "bus bandwidth (GB/s)";
// NCCL.
inline constexpr std::string_view kFunction = "function";
inline constexpr std::string_view kOperations = "operations";
inline constexpr std::string_view kInGroup = "in group";
inline constexpr std::string_view kNcclFunction = "NCCL function";
inline constexpr std::string_view kNcclAlgorithm = "NCCL algorithm";
inline constexpr std::string_view kNcclProtocol = "NCCL protocol";
inline constexpr std::string_view kNcclChannels = "NCCL channels";
inline constexpr std::string_view kNcclWarps = "NCCL warps";
inline constexpr std::string_view kNcclSequence = "NCCL seq";
// CUDA calls.
inline constexpr std::string_view kCorrelation = "correlation";
inline constexpr std::string_view kExternalId = "External id";
inline constexpr std::string_view kExternalId2021 = "external id";
inline constexpr std::string_view kCallbackId = "cbid";
inline constexpr std::string_view kKernel = "kernel";  // only if a symbol hook recorded the launch
inline constexpr std::string_view kCopyKind = "kind";
inline constexpr std::string_view kStreamHandle = "stream handle";
inline constexpr std::string_view kError = "error";
// Device activity.
inline constexpr std::string_view kDevice = "device";
inline constexpr std::string_view kContext = "context";
inline constexpr std::string_view kStream = "stream";
inline constexpr std::string_view kQueued = "queued";
inline constexpr std::string_view kRegisters = "registers per thread";
inline constexpr std::string_view kSharedMemory = "shared memory";
inline constexpr std::string_view kBlocksPerSm = "blocks per SM";
inline constexpr std::string_view kWarpsPerSm = "warps per SM";
inline constexpr std::string_view kGrid = "grid";
inline constexpr std::string_view kBlock = "block";
inline constexpr std::string_view kOccupancy = "est. achieved occupancy %";
inline constexpr std::string_view kChannel = "channel";
inline constexpr std::string_view kChannelType = "channel_type";
inline constexpr std::string_view kCluster = "cluster";
inline constexpr std::string_view kPriority = "priority";
inline constexpr std::string_view kBandwidth = "memory bandwidth (GB/s)";
inline constexpr std::string_view kGraphId = "graph id";
inline constexpr std::string_view kGraphNodeId = "graph node id";
inline constexpr std::string_view kFromDevice = "fromDevice";
inline constexpr std::string_view kInDevice = "inDevice";
inline constexpr std::string_view kToDevice = "toDevice";
inline constexpr std::string_view kFromContext = "fromContext";
inline constexpr std::string_view kInContext = "inContext";
inline constexpr std::string_view kToContext = "toContext";
inline constexpr std::string_view kSyncKind = "cuda_sync_kind";
inline constexpr std::string_view kWaitOnStream = "wait_on_stream";
inline constexpr std::string_view kWaitOnRecord = "wait_on_cuda_event_record_corr_id";
inline constexpr std::string_view kWaitOnEvent = "wait_on_cuda_event_id";
inline constexpr std::string_view kStep = "step";
// PyTorch.
inline constexpr std::string_view kInputDims = "Input Dims";
inline constexpr std::string_view kInputStrides = "Input Strides";
inline constexpr std::string_view kInputType = "Input type";
inline constexpr std::string_view kConcreteInputs = "Concrete Inputs";
inline constexpr std::string_view kSequenceNumber = "Sequence number";
inline constexpr std::string_view kFlops = "flops";
inline constexpr std::string_view kDeviceType = "Device Type";
inline constexpr std::string_view kDeviceId = "Device Id";
inline constexpr std::string_view kAddress = "Addr";
inline constexpr std::string_view kMemoryBytes = "Bytes";
inline constexpr std::string_view kTotalAllocated = "Total Allocated";
inline constexpr std::string_view kTotalReserved = "Total Reserved";
inline constexpr std::string_view kRpc = "rpc";
inline constexpr std::string_view kRpcId = "id";
inline constexpr std::string_view kRpcFrom = "from";
inline constexpr std::string_view kRpcTo = "to";
// NVTX.
inline constexpr std::string_view kDomain = "domain";
inline constexpr std::string_view kNvtxCategory = "category";
inline constexpr std::string_view kPayload = "payload";
inline constexpr std::string_view kColor = "color";
// Phases. On other events: the innermost phase around the event or its launch, and the phases around that.
inline constexpr std::string_view kPhase = "phase";
inline constexpr std::string_view kOuterPhases = "outer phases";
inline constexpr std::string_view kRange = "range";        // name of the range that makes the phase
inline constexpr std::string_view kThread = "thread";      // of the range
inline constexpr std::string_view kUnclosed = "unclosed";  // true: its end was not seen
inline constexpr std::string_view kResumed = "resumed";    // true: a generator or coroutine goes on
inline constexpr std::string_view kStarted = "started";    // false: it began before the window
// Step marks, totals, track names.
inline constexpr std::string_view kStepIndex = "index";
inline constexpr std::string_view kStepCpuUs = "CPU (us)";
inline constexpr std::string_view kCountedPercent = "counted (%)";  // share of the time that hardware counters ran
inline constexpr std::string_view kOpCount = "Op count";
inline constexpr std::string_view kName = "name";
inline constexpr std::string_view kLabels = "labels";
inline constexpr std::string_view kSortIndex = "sort_index";
}  // namespace arg

/// Values of "rpc".
namespace rpc {
inline constexpr std::string_view kRequest = "request";  // lasts until the answer
inline constexpr std::string_view kSent = "sent";
inline constexpr std::string_view kServed = "served";
}  // namespace rpc

/// Values of "cat".
namespace category {
inline constexpr std::string_view kCpuOp = "cpu_op";
inline constexpr std::string_view kUserAnnotation = "user_annotation";
inline constexpr std::string_view kPythonFunction = "python_function";
inline constexpr std::string_view kTrace = "Trace";
inline constexpr std::string_view kCpuInstantEvent = "cpu_instant_event";
inline constexpr std::string_view kKernel = "kernel";
inline constexpr std::string_view kGpuMemcpy = "gpu_memcpy";
inline constexpr std::string_view kGpuMemset = "gpu_memset";
inline constexpr std::string_view kGpuUserAnnotation = "gpu_user_annotation";
inline constexpr std::string_view kCudaRuntime = "cuda_runtime";
inline constexpr std::string_view kCudaDriver = "cuda_driver";
inline constexpr std::string_view kCudaSync = "cuda_sync";
inline constexpr std::string_view kCudaEvent = "cuda_event";
inline constexpr std::string_view kOverhead = "overhead";
inline constexpr std::string_view kAc2g = "ac2g";
inline constexpr std::string_view kFwdBwd = "fwdbwd";
inline constexpr std::string_view kPhase = "phase";
inline constexpr std::string_view kRankFlow = "rank_flow";
// Read from Kineto's traces.
inline constexpr std::string_view kGlowRuntime = "glow_runtime";
inline constexpr std::string_view kHpuOp = "hpu_op";
inline constexpr std::string_view kCollectiveComm = "collective_comm";
inline constexpr std::string_view kHardwareCounters = "hardware_counters";
inline constexpr std::string_view kCudaProfilerRange = "cuda_profiler_range";
inline constexpr std::string_view kMtiaStart = "mtia_";
inline constexpr std::string_view kXpuStart = "xpu_";
inline constexpr std::string_view kPrivateUseStart = "privateuse1_";
inline constexpr std::string_view kGpuStart = "gpu_";
inline constexpr std::string_view kRuntimeEnd = "_runtime";
inline constexpr std::string_view kDriverEnd = "_driver";
// Traces of 2021.
inline constexpr std::string_view kOperator2021 = "Operator";
inline constexpr std::string_view kRuntime2021 = "Runtime";
inline constexpr std::string_view kKernel2021 = "Kernel";
inline constexpr std::string_view kMemcpy2021 = "Memcpy";
inline constexpr std::string_view kMemset2021 = "Memset";
}  // namespace category

/// Values of "ph".
namespace phase {
inline constexpr char kSlice = 'X';
inline constexpr char kMetadata = 'M';
inline constexpr char kInstant = 'i';
inline constexpr char kOldInstant = 'I';
inline constexpr char kCounter = 'C';
inline constexpr char kAsyncBegin = 'b';
inline constexpr char kAsyncInstant = 'n';
inline constexpr char kAsyncEnd = 'e';
inline constexpr char kFlowStart = 's';
inline constexpr char kFlowStep = 't';
inline constexpr char kFlowEnd = 'f';
}  // namespace phase

/// Values of "s".
namespace scope {
inline constexpr std::string_view kThread = "t";
inline constexpr std::string_view kProcess = "p";
inline constexpr std::string_view kGlobal = "g";
}  // namespace scope

/// "bp" of a flow end: binds the arrow to the slice around its end, not to the next slice.
inline constexpr std::string_view kBindEnclosing = "e";

namespace metadata {
inline constexpr std::string_view kProcessName = "process_name";
inline constexpr std::string_view kProcessLabels = "process_labels";
inline constexpr std::string_view kProcessSortIndex = "process_sort_index";
inline constexpr std::string_view kThreadName = "thread_name";
inline constexpr std::string_view kThreadSortIndex = "thread_sort_index";
}  // namespace metadata

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

/// baseTimeNanoseconds is a multiple of a quarter of a year.
inline constexpr std::int64_t kBaseStepNs = 7889238ll * 1000000000;

constexpr std::string_view category_name(Category of) {
  switch (of) {
    case Category::kNone:
      return "";
    case Category::kCpuOp:
      return category::kCpuOp;
    case Category::kUserAnnotation:
      return category::kUserAnnotation;
    case Category::kPythonFunction:
      return category::kPythonFunction;
    case Category::kTrace:
      return category::kTrace;
    case Category::kCpuInstantEvent:
      return category::kCpuInstantEvent;
    case Category::kKernel:
      return category::kKernel;
    case Category::kGpuMemcpy:
      return category::kGpuMemcpy;
    case Category::kGpuMemset:
      return category::kGpuMemset;
    case Category::kGpuUserAnnotation:
      return category::kGpuUserAnnotation;
    case Category::kCudaRuntime:
      return category::kCudaRuntime;
    case Category::kCudaDriver:
      return category::kCudaDriver;
    case Category::kCudaSync:
      return category::kCudaSync;
    case Category::kOverhead:
      return category::kOverhead;
    case Category::kAc2g:
      return category::kAc2g;
    case Category::kFwdBwd:
      return category::kFwdBwd;
    case Category::kPhase:
      return category::kPhase;
    case Category::kRankFlow:
      return category::kRankFlow;
  }
  return "";
}

}  // namespace profshim::schema
