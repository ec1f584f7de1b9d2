// Event: one intercepted call, 64 bytes of plain data. The hooks in inject/ fill it, the recorder copies it once into
// the spool, src/kineto makes trace events of it. HookId is generated from the tables in hooks/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "profshim/base/clock.h"

namespace profshim {

/// The family of a call. Re-entrancy is guarded per layer: an MPI call inside an MPI call is not recorded.
enum class Layer : std::uint8_t { kNone, kMpi, kNccl, kCuda, kNvtx, kTorch, kCount };

/// The kind of an event: first the kinds that are no function call, then one id per function (the first column of each
/// row of the tables).
enum class HookId : std::uint16_t {
  kNone,
  kNvtxRange,  // push/pop or start/end
  kNvtxMark,   // an instant
  kStep,       // a step boundary (instant)
  kMpiPolls,   // consecutive unsuccessful polls of MPI (MPI_Test, MPI_Iprobe, ...); args: polls
  // From PyTorch's RecordFunction, by its scope. Event::name is the name of the operator or range; args: torch.
  kTorchOperator,   // a function
  kTorchBackward,   // a node of the backward graph
  kTorchScript,     // a TorchScript function
  kTorchRange,      // torch.profiler.record_function, also used by PyTorch itself
  kTorchRpc,        // torch.distributed.rpc sends a request to another worker; args: rpc
  kTorchRpcServed,  // torch.distributed.rpc executes a request of another worker; args: rpc
  kTorchMemory,     // an allocator of PyTorch allocates or releases memory (instant); args: memory
  kContinuation,    // second half of the event before it on the same thread (MPI_Sendrecv: the receive)
  kNcclTask,        // an operation as NCCL launches it (instant, on any thread); args: nccl_task
  // From CUPTI. These lie in the runs of the device block (see spool::kDeviceTid), not in those of a thread.
  kCudaApi,       // a call of the runtime or driver API; args: api
  kKernel,        // args: gpu, and in its continuation: kernel
  kMemcpy,        // args: gpu
  kMemcpyPeer,    // args: gpu, and in its continuation: peer
  kMemset,        // args: gpu
  kGraphRun,      // a CUDA graph launch as one device activity; args: gpu
  kCudaSync,      // args: gpu (kind = CUpti_ActivitySynchronizationType, bytes = event id, graph_node = its record's
                  // correlation, both ~0 when unknown; external = the stream the event was recorded on, 0 = unknown)
  kCudaOverhead,  // args: gpu (kind = CUpti_ActivityOverheadKind >> 16; 0 = the driver's compiler)
  kCudaMemory,  // an allocation or release (instant); args: gpu (kind = CUpti_ActivityMemoryOperationType, graph_node =
                // address, external = CUpti_ActivityMemoryKind)
#define HOOK(name, ...) name,
#include "profshim/hooks/cuda.def"
#include "profshim/hooks/mpi.def"
#include "profshim/hooks/nccl.def"
#undef HOOK
  kCount
};

/// Returns the function's name ("MPI_Allreduce"); "" for a kind that is no function.
std::string_view hook_name(HookId hook);
Layer hook_layer(HookId hook);
constexpr bool is_rpc(HookId hook) { return hook == HookId::kTorchRpc || hook == HookId::kTorchRpcServed; }
/// Returns the row with this exact name, or kNone.
HookId hook_by_name(std::string_view name);

/// Returns the name of a row of hooks/cuda.def in traces ("cudaLaunchKernel" for "__cudaLaunchKernel_ptsz"); "" for
/// other kinds.
std::string_view cuda_call_name(HookId hook);

/// The other rank of a call: what MpiArgs::peer and NcclArgs::peer are. From the roles of the row's arguments.
enum class PeerKind : std::uint8_t { kNone, kRoot, kDestination, kSource, kTarget, kPeer };
PeerKind peer_kind(HookId hook);
/// Returns true for the MPI functions that begin or end MPI.
bool begins_or_ends_mpi(HookId hook);

/// Index into the spool's string table; 0 = none.
using StringId = std::uint32_t;

inline constexpr std::int32_t kNone32 = std::numeric_limits<std::int32_t>::min();

struct MpiArgs {
  std::uint64_t bytes;     // payload in bytes of this rank's buffer (see inject/mpi/hooks.cpp for each family)
  std::uint64_t count;     // elements
  std::uint32_t comm;      // Definition id of kind kCommunicator; 0 = none
  std::uint32_t sequence;  // 1, 2, ... per communicator over its collectives; 0 = not a collective
  std::int32_t peer;       // root, destination or source in the communicator; kNone32 = none
  std::int32_t tag;        // kNone32 = none
  std::uint16_t datatype;  // Definition id of kind kDatatype; 0 = none
  std::uint16_t op;        // Definition id of kind kReduction; 0 = none
  std::uint32_t request;   // joins the post of a non-blocking operation to its async slice; 0 = blocking
};

/// kMpiPolls. Event::begin is the begin of the first poll, Event::end the end of the last. The thread may extend its
/// last committed event until it commits another one.
struct PollArgs {
  static constexpr int kFunctions = 3;
  Ticks in_calls;  // time spent inside the calls
  std::uint32_t calls[kFunctions];
  HookId functions[kFunctions];  // in the order of their first call; kNone = unused
  std::uint16_t depth;           // number of open calls and ranges of the thread around the polls
  std::uint32_t comm;            // of the probes, if all have the same one; 0 = none
  std::int32_t peer;             // likewise; kNone32 = none
  std::int32_t tag;              // likewise
};

struct NvtxArgs {
  std::uint64_t payload;      // raw bits; meaning by payload_type
  std::uint32_t domain;       // Definition id of kind kNvtxDomain; 0 = default domain
  std::uint32_t category;     // the caller's number; its name is a Definition of kind kNvtxCategory
  std::uint32_t color;        // ARGB; 0 = none
  std::uint32_t extended;     // StringId of an extended payload already rendered as JSON; 0 = none
  std::uint8_t payload_type;  // nvtxPayloadType_t; 0 = none
  std::uint8_t reserved[3];
  std::int32_t start_tid;  // kStartEnd: the thread that began the range; else 0
  std::uint64_t reserved2;
};
static_assert(sizeof(NvtxArgs) == 40 && sizeof(MpiArgs) == 40 && sizeof(PollArgs) == 40);

struct NcclArgs {
  std::uint64_t count;      // the `count` argument: elements sent by one rank, or received by it (reduce-scatter)
  std::uint32_t comm;       // Definition id of kind kCommunicator; 0 = none
  std::uint32_t sequence;   // 1, 2, ... per communicator over its collectives; 0 = not a collective
  std::int32_t peer;        // root or peer in the communicator; kNone32 = none
  std::int32_t result;      // ncclResult_t
  std::uint32_t operation;  // joins the call to its device activity: CUPTI external correlation id; 0 = none
  std::uint8_t datatype;    // ncclDataType_t; kNoByte = none
  std::uint8_t op;          // ncclRedOp_t up to ncclAvg; kUserOp = made by the user; kNoByte = none
  std::uint8_t group;       // 1 = inside ncclGroupStart/End: launched by the outermost end
  std::uint8_t from_nvtx;   // 1 = seen through NCCL's NVTX domain only
  std::uint64_t bytes;      // of this rank's send buffer (receive buffer for receives and scatters)
};
inline constexpr std::uint8_t kNoByte = 0xff, kUserOp = 0xfe;

/// kNcclTask: an operation that NCCL launches, as reported by its profiler plugin interface.
struct NcclTaskArgs {
  Ticks call;              // Event::begin of the call that enqueued it; 0 = NCCL does not tell
  std::uint64_t sequence;  // NCCL's own count of the function on its communicator, if is_collective is set
  StringId function;       // "AllReduce"
  StringId algorithm;      // "RING"; 0 = a send or receive
  StringId protocol;       // "LL"; likewise
  std::uint8_t channels;
  std::uint8_t warps;  // of each channel, if is_collective is set
  std::uint8_t is_collective;
  std::uint8_t reserved[9];
};
static_assert(sizeof(NcclArgs) == 40 && sizeof(NcclTaskArgs) == 40);

/// kCudaApi. Event::name is the function's name without its version ("cudaMalloc").
struct ApiArgs {
  std::uint32_t correlation;  // joins the call to its device activity; unique in the process
  std::uint32_t callback_id;  // CUPTI's cbid
  std::int32_t tid;           // gettid of the caller; 0 = could not be found
  std::uint32_t raw_thread;   // CUPTI's threadId: the low 32 bits of the caller's pthread_t
  std::uint32_t result;       // the call's return value
  std::uint32_t external;     // id pushed by us around it (NcclArgs::operation); 0 = none
  std::uint8_t is_runtime;    // 1 = runtime API, 0 = driver API
  std::uint8_t is_launch;     // 1 = starts device activity: a kernel launch, memcpy or memset
  std::uint8_t reserved[14];
};

/// Device activity. Event::begin and end are device times converted to ticks(); Event::name is the kernel's mangled
/// name.
struct GpuArgs {
  std::uint32_t correlation;  // of the launch; 0 = unknown
  std::uint16_t device;       // kUnknownDevice: synchronization records name their context only
  std::uint16_t kind;         // copies: CopyKinds (profshim/device/activity_kinds.h);
                              // memset: memory kind
  std::uint32_t context;
  std::uint32_t stream;
  std::uint64_t bytes;
  std::uint64_t graph_node;  // 0 = not part of a graph
  std::uint32_t graph;       // 0 = not part of a graph
  std::uint32_t external;    // id pushed by us around the launch (NcclArgs::operation); 0 = none
};
inline constexpr std::uint16_t kUnknownDevice = 0xffff;
/// Second half of kKernel.
struct KernelArgs {
  std::uint32_t grid[3];
  std::uint16_t block[3];
  std::uint16_t registers_per_thread;
  std::int32_t static_shared_bytes;
  std::int32_t dynamic_shared_bytes;
  std::uint16_t cluster[3];
  std::int16_t priority;  // of the stream, if has_priority is set
  std::uint16_t channel;
  std::uint8_t channel_type;  // CUpti_ChannelType; kNoByte = not known
  std::uint8_t has_priority;
};
/// Second half of kMemcpyPeer.
struct PeerArgs {
  std::uint32_t from_device, to_device, from_context, to_context;
  std::uint64_t reserved[3];
};
static_assert(sizeof(ApiArgs) == 40 && sizeof(GpuArgs) == 40 && sizeof(KernelArgs) == 40 && sizeof(PeerArgs) == 40);

/// A call of the CUDA runtime or driver API recorded by its symbol hook (hooks/cuda.def) while CUPTI is not available.
/// It lies in the runs of its thread.
struct CudaCallArgs {
  std::uint64_t bytes;   // of a copy or memset, if has_bytes is set
  std::uint64_t stream;  // the handle, if has_stream is set
  StringId kernel;       // mangled; 0 = not known, or no launch
  std::int32_t result;
  std::uint8_t copy_kind;  // cudaMemcpyKind; kNoByte = no copy
  std::uint8_t has_bytes, has_stream;
  std::uint8_t reserved[13];
};
static_assert(sizeof(CudaCallArgs) == 40);

struct TorchArgs {
  std::uint64_t record_function;  // while open: address of the at::RecordFunction. Ended: with kStartEnd (the range
                                  // ended on another thread) the thread that began it, else 0
  std::int64_t sequence;          // joins a backward function to the operator that caused it; kNoSequence = none
  // The inputs, one JSON array element each; 0 = not known.
  StringId dims, strides, types, values;
  StringId stack;       // see profshim/call_stack.h; 0 = none
  std::uint32_t group;  // of a collective of torch.distributed: Definition id of kind kCommunicator; 0 = not known
};
inline constexpr std::int64_t kNoSequence = -1;

/// kTorchRpc and kTorchRpcServed. Event::name is the name of the request, see inject/torch/calls/rpc_request.h.
struct RpcArgs {
  std::uint64_t began_on;  // kStartEnd: the thread that sent it; else 0
  std::int64_t id;         // PyTorch's number of the request: each worker counts those it sends; kNoRpcId = not known
  std::uint64_t bytes;     // without the tensors
  StringId from, to;       // names of workers; 0 = not known
  StringId stack;          // see profshim/call_stack.h; 0 = none
  std::uint16_t type;      // torch::distributed::rpc::MessageType
  std::uint16_t reserved;
};
inline constexpr std::int64_t kNoRpcId = -1;

/// kTorchMemory: the arguments of c10::reportMemoryUsageToProfiler. With kFailed: a request that the allocator could
/// not satisfy.
struct MemoryArgs {
  std::uint64_t address;
  std::int64_t bytes;         // < 0: released
  std::uint64_t allocated;    // total on the device afterwards; CPU: total of the blocks seen to be allocated
  std::uint64_t reserved;     // total reserved by the allocator
  std::int16_t device_type;   // c10::DeviceType: 0 = CPU, 1 = CUDA
  std::int16_t device_index;  // -1 = the CPU
  std::uint32_t reserved2;
};
static_assert(sizeof(TorchArgs) == 40 && sizeof(RpcArgs) == 40 && sizeof(MemoryArgs) == 40);

struct StepArgs {
  std::int64_t index;   // 0-based count of boundaries
  std::int64_t number;  // number read from the marker's name, or kNoStepNumber
  std::uint64_t reserved[3];
};
inline constexpr std::int64_t kNoStepNumber = std::numeric_limits<std::int64_t>::min();

/// Event::flags
enum : std::uint8_t {
  kAsyncSlice = 1,  // begin..end is post..completion of a non-blocking operation: drawn as b/e, not as a slice
  kContinues = 2,   // the next event of this thread is its kContinuation
  kStartEnd = 4,    // a range that may end on another thread than it began
  kUnfinished = 8,  // still open when the window or the process ended
  kFortran = 16,    // called through a Fortran binding
  kFailed = 32,     // the real function returned an error
};

struct alignas(64) Event {
  Ticks begin = 0;
  Ticks end = 0;
  HookId hook = HookId::kNone;
  std::uint8_t flags = 0;
  union {
    std::uint8_t element_type = 0;  // of a collective of torch.distributed: c10::ScalarType + 1; 0 = not known
    PeerKind started_peer;          // MPI_Start: kind of the peer of its request; kNone: as peer_kind(hook) says
  };
  union {
    StringId name = 0;  // NVTX message, step marker, operator, kernel: a kind whose name `hook` does not determine
    StringId stack;     // an MPI or NCCL function: its call stack (profshim/call_stack.h); 0 = none
  };
  union {
    MpiArgs mpi;
    PollArgs polls;
    NvtxArgs nvtx;
    StepArgs step;
    TorchArgs torch;
    RpcArgs rpc;
    MemoryArgs memory;
    NcclArgs nccl;
    NcclTaskArgs nccl_task;
    CudaCallArgs cuda_call;
    ApiArgs api;
    GpuArgs gpu;
    KernelArgs kernel;
    PeerArgs peer;
    std::uint64_t raw[5] = {};
  };
};
static_assert(sizeof(Event) == 64);

}  // namespace profshim
