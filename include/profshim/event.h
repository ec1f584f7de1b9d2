// Event: what one intercepted call is, 64 bytes, plain data. Filled by the hooks in inject/, copied once into the
// spool, turned into trace events by src/spool. HookId is made from the tables in hooks/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "profshim/base.h"

namespace profshim {

/// Which family a call belongs to. Re-entrancy is guarded per layer: an MPI call inside an MPI call is not recorded.
enum class Layer : std::uint8_t { kNone, kMpi, kNccl, kCuda, kNvtx, kTorch, kCount };

/// What an event is: the kinds without a function of their own, then one id per function, the first column of every row
/// of the tables.
enum class HookId : std::uint16_t {
  kNone,
  kNvtxRange,  // push/pop or start/end
  kNvtxMark,   // an instant
  kStep,       // a step boundary (instant)
  kMpiPolls,   // calls one after the other that asked MPI and were told "not yet"; args: polls
  // What PyTorch's RecordFunction tells, by its scope. Event::name is the operator's or range's; args: torch.
  kTorchOperator,   // a function
  kTorchBackward,   // a node of the backward graph
  kTorchScript,     // a TorchScript function
  kTorchRange,      // torch.profiler.record_function and what PyTorch itself marks in this way
  kTorchRpc,        // torch.distributed.rpc sends a request to another worker; args: rpc
  kTorchRpcServed,  // it carries one out; likewise
  kTorchMemory,     // its allocators have given or taken back memory (instant); args: memory
  kContinuation,    // second half of the event before it on the same thread (MPI_Sendrecv: the receive)
  kNcclTask,        // what NCCL made of an operation (instant, of whatever thread); args: nccl_task
  // What CUPTI tells; in the chunks of the device lane (see spool::kDeviceLane), not in those of a thread.
  kCudaApi,       // a call of the runtime or driver API; args: api
  kKernel,        // args: gpu, and in its continuation: kernel
  kMemcpy,        // args: gpu
  kMemcpyPeer,    // args: gpu, and in its continuation: peer
  kMemset,        // args: gpu
  kGraphRun,      // a CUDA graph launch as one piece of device work; args: gpu
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

/// "MPI_Allreduce"; "" for what is no function.
std::string_view hook_name(HookId hook);
Layer hook_layer(HookId hook);
constexpr bool is_rpc(HookId hook) { return hook == HookId::kTorchRpc || hook == HookId::kTorchRpcServed; }
/// The row with that exact name, or kNone.
HookId hook_by_name(std::string_view name);

/// The name that the trace gives a row of hooks/cuda.def ("cudaLaunchKernel" for "__cudaLaunchKernel_ptsz"); "" for
/// what is no such row.
std::string_view cuda_call_name(HookId hook);

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

/// kMpiPolls. Event::begin is that of the first, Event::end that of the last; the thread may extend the last event that
/// it committed until it commits another one.
struct PollArgs {
  static constexpr int kFunctions = 3;
  Ticks in_calls;  // spent in them
  std::uint32_t calls[kFunctions];
  HookId functions[kFunctions];  // in the order of their first call; kNone = unused
  std::uint16_t depth;           // how many calls and ranges of the thread were open around them
  std::uint32_t comm;            // of the probes among them, where they are all alike; 0 = none
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
  std::uint64_t count;      // elements of the argument list: what one rank sends, or gets of a reduce-scatter
  std::uint32_t comm;       // Definition id of kind kCommunicator; 0 = none
  std::uint32_t sequence;   // 1, 2, ... per communicator over its collectives; 0 = not a collective
  std::int32_t peer;        // root or peer in the communicator; kNone32 = none
  std::int32_t result;      // ncclResult_t
  std::uint32_t operation;  // joins the call to its device work: CUPTI external correlation id; 0 = none
  std::uint8_t datatype;    // ncclDataType_t; kNoByte = none
  std::uint8_t op;          // ncclRedOp_t up to ncclAvg; kUserOp = made by the user; kNoByte = none
  std::uint8_t group;       // 1 = inside ncclGroupStart/End: launched by the outermost end
  std::uint8_t from_nvtx;   // 1 = seen through NCCL's NVTX domain only
  std::uint64_t bytes;      // of this rank's send buffer (receive buffer for receives and scatters)
};
inline constexpr std::uint8_t kNoByte = 0xff, kUserOp = 0xfe;

/// kNcclTask: what NCCL's profiler interface tells of an operation that it launches.
struct NcclTaskArgs {
  Ticks call;              // Event::begin of the call that asked for it; 0 = NCCL does not say which
  std::uint64_t sequence;  // NCCL's own count of the function on its communicator, where is_collective is set
  StringId function;       // "AllReduce"
  StringId algorithm;      // "RING"; 0 = a send or receive
  StringId protocol;       // "LL"; likewise
  std::uint8_t channels;
  std::uint8_t warps;  // of each channel, where is_collective is set
  std::uint8_t is_collective;
  std::uint8_t reserved[9];
};
static_assert(sizeof(NcclArgs) == 40 && sizeof(NcclTaskArgs) == 40);

/// kCudaApi. Event::begin and end are the call's; Event::name is the function's name without its version
/// ("cudaMalloc").
struct ApiArgs {
  std::uint32_t correlation;  // joins to device work; unique in the process
  std::uint32_t callback_id;  // CUPTI's cbid
  std::int32_t tid;           // gettid of the caller; 0 = could not be found
  std::uint32_t raw_thread;   // as CUPTI has it: the low 32 bits of the caller's pthread_t
  std::uint32_t result;       // the call's return value
  std::uint32_t external;     // id pushed by us around it (NcclArgs::operation); 0 = none
  std::uint8_t is_runtime;    // 1 = runtime API, 0 = driver API
  std::uint8_t is_launch;     // 1 = starts device work: a launch, copy or memset
  std::uint8_t reserved[14];
};

/// Device work. Event::begin and end are device times brought to our clock; Event::name is the kernel's mangled name.
struct GpuArgs {
  std::uint32_t correlation;  // of the launch; 0 = unknown
  std::uint16_t device;       // kUnknownDevice: of a synchronisation, whose records name their context only
  std::uint16_t kind;  // copies: CUpti_ActivityMemcpyKind | source memory kind << 4 | destination memory kind << 8;
                       // memset: memory kind
  std::uint32_t context;
  std::uint32_t stream;
  std::uint64_t bytes;
  std::uint64_t graph_node;  // 0 = not part of a graph
  std::uint32_t graph;       // 0 likewise
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
  std::int16_t priority;  // of the stream, where has_priority is set
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

/// A call of the CUDA runtime or driver that was seen by symbol (hooks/cuda.def), in the chunks of its thread: what is
/// recorded while CUPTI is not to be had.
struct CudaCallArgs {
  std::uint64_t bytes;   // of a copy or memset, where has_bytes is set
  std::uint64_t stream;  // the handle, where has_stream is set
  StringId kernel;       // mangled; 0 = not known, or no launch
  std::int32_t result;
  std::uint8_t copy_kind;  // cudaMemcpyKind; kNoByte = no copy
  std::uint8_t has_bytes, has_stream;
  std::uint8_t reserved[13];
};
static_assert(sizeof(CudaCallArgs) == 40);

struct TorchArgs {
  std::uint64_t record_function;  // address of the at::RecordFunction while it is open; of a range that ends on another
                                  // thread (kStartEnd) then the thread that began it; else 0
  std::int64_t sequence;          // joins a backward function to the operator that caused it; kNoSequence = none
  // What it was given, one element for each input, as JSON; 0 = not known.
  StringId dims, strides, types, values;
  StringId stack;       // see profshim/call_stack.h; 0 = none
  std::uint32_t group;  // of a collective of torch.distributed: Definition id of kind kCommunicator; 0 = not known
};
inline constexpr std::int64_t kNoSequence = -1;

/// kTorchRpc and kTorchRpcServed. Event::name is that of the request, see inject/torch/calls/rpc_request.h.
struct RpcArgs {
  std::uint64_t began_on;  // kStartEnd: the thread that sent it; else 0
  std::int64_t id;         // PyTorch's number of the request: a worker counts what it sends; kNoRpcId = not known
  std::uint64_t bytes;     // without the tensors
  StringId from, to;       // names of workers; 0 = not known
  StringId stack;          // see profshim/call_stack.h; 0 = none
  std::uint16_t type;      // torch::distributed::rpc::MessageType
  std::uint16_t reserved;
};
inline constexpr std::int64_t kNoRpcId = -1;

/// kTorchMemory: as c10::reportMemoryUsageToProfiler is told. With kFailed: what the allocator was asked for and did
/// not have.
struct MemoryArgs {
  std::uint64_t address;
  std::int64_t bytes;         // below 0: released
  std::uint64_t allocated;    // in all, on the device, after it; of the CPU: in blocks that were seen to be allocated
  std::uint64_t reserved;     // by the allocator
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
  kStartEnd = 4,    // a range that may begin and end on different threads
  kUnfinished = 8,  // still open when the window or the process ended
  kFortran = 16,    // called through a Fortran binding
  kFailed = 32,     // the real function returned an error
};

struct alignas(64) Event {
  Ticks begin = 0;
  Ticks end = 0;
  HookId hook = HookId::kNone;
  std::uint8_t flags = 0;
  std::uint8_t element_type = 0;  // of a collective of torch.distributed: c10::ScalarType + 1; 0 = not known
  StringId name = 0;  // what is variable in the name: an NVTX message, a step's marker, an operator. Of a call of a
                      // function of the tables: its stack (profshim/call_stack.h)
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
