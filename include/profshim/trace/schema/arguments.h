// Keys and values of "args".
#pragma once

#include <string_view>

namespace profshim::schema {

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

}  // namespace profshim::schema
