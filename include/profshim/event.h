// A recorded call, range, step or GPU activity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "profshim/base/clock.h"

namespace profshim {

namespace python_calls {
enum class StackPart : std::uint32_t;
}

enum class Layer : std::uint8_t { kNone, kMpi, kNccl, kCuda, kNvtx, kTorch, kPython, kCount };

/// The kind of an event. "args: x": Event::x holds its arguments.
enum class HookId : std::uint16_t {
  kNone,
  kNvtxRange,  // push/pop or start/end
  kNvtxMark,   // instant
  kStep,       // step boundary (instant)
  kMpiPolls,   // consecutive unsuccessful polls (MPI_Test, MPI_Iprobe, ...); args: polls
  // Scopes of PyTorch's RecordFunction, up to kTorchRange. Event::name: the operator or range; args: torch.
  kTorchOperator,
  kTorchBackward,  // node of the backward graph
  kTorchScript,
  kTorchRange,      // torch.profiler.record_function
  kTorchRpc,        // torch.distributed.rpc sends a request; args: rpc
  kTorchRpcServed,  // torch.distributed.rpc executes a request; args: rpc
  kTorchMemory,     // an allocator allocates or releases memory (instant); args: memory
  // See profshim/python/calls.h.
  kPythonMarks,   // begins and ends of calls; args: python_marks
  kPythonStack,   // calls that went on when the recording of a thread's calls began; args: python_marks
  kPythonCall,    // only in the writer: a call as one event. Event::name: its python_calls::CallSite; args: python_call
  kContinuation,  // extends the thread's previous event (MPI_Sendrecv: the receive)
  kPhaseRange,    // a range of a [[phase]] that no API of the job shows; args: phase
  kPhaseCounter,  // counter of a range of a [[phase]], with its end; args: phase_counter
  kSystemSample,  // value of a counter of [system] (instant); RunHeader::tid is spool::kSystemTid. args: system
  kNcclTask,      // NCCL launches an operation (instant, on any thread); args: nccl_task
  // From CUPTI, up to kCudaMemory; RunHeader::tid is spool::kDeviceTid. args: gpu, except for kCudaApi.
  kCudaApi,  // runtime or driver API call; args: api
  kKernel,   // continuation: kernel
  kMemcpy,
  kMemcpyPeer,  // continuation: peer
  kMemset,
  kGraphRun,      // a CUDA graph as one device activity
  kCudaSync,      // kind = CUpti_ActivitySynchronizationType, bytes = CUDA event id, graph_node = correlation id of its
                  // cudaEventRecord, both ~0 = unknown; external = stream of its cudaEventRecord, 0 = unknown
  kCudaOverhead,  // kind = CUpti_ActivityOverheadKind >> 16; 0 = the driver's compiler
  kCudaMemory,    // allocation or release (instant); kind = CUpti_ActivityMemoryOperationType, graph_node = address,
                  // external = CUpti_ActivityMemoryKind
  // From here on the rows of hooks/*.def, which profshim/hooks/ids.h names. kCount leaves room for more rows.
  kFirstRow,
  kCount = 1024
};

/// Returns "MPI_Allreduce" for hooks::MPI_Allreduce; "" for kinds outside hooks/*.def.
std::string_view hook_name(HookId hook);
Layer hook_layer(HookId hook);
constexpr bool is_rpc(HookId hook) { return hook == HookId::kTorchRpc || hook == HookId::kTorchRpcServed; }
/// Returns kNone for an unknown name.
HookId hook_by_name(std::string_view name);

/// Returns the name in traces ("cudaLaunchKernel" for "__cudaLaunchKernel_ptsz"); "" for kinds outside hooks/cuda.def.
std::string_view cuda_call_name(HookId hook);

/// The meaning of MpiArgs::peer or NcclArgs::peer.
enum class PeerKind : std::uint8_t { kNone, kRoot, kDestination, kSource, kTarget, kPeer };
PeerKind peer_kind(HookId hook);
bool begins_or_ends_mpi(HookId hook);

/// Identifies a text in the string arena of the spool; 0 = none.
using StringId = std::uint32_t;

inline constexpr std::int32_t kNone32 = std::numeric_limits<std::int32_t>::min();  // no peer or no tag

/// "Definition id", here and below: a spool::Definition::id; 0 = none.
struct MpiArgs {
  std::uint64_t bytes;     // of this rank's buffer: see Payload in inject/mpi/row.h
  std::uint64_t count;     // elements
  std::uint32_t comm;      // Definition id
  std::uint32_t sequence;  // counts the collectives of the communicator from 1; 0 = not a collective
  std::int32_t peer;       // rank in `comm`: see PeerKind
  std::int32_t tag;
  std::uint16_t datatype;  // Definition id
  std::uint16_t op;        // Definition id (kReduction)
  std::uint32_t request;   // joins a non-blocking call to the event of its operation (kAsyncSlice); 0 = blocking
};

/// Arguments of kMpiPolls: each poll extends the event until the thread records another.
struct PollArgs {
  static constexpr int kFunctions = 3;
  Ticks in_calls;  // time inside the polls
  std::uint32_t calls[kFunctions];
  HookId functions[kFunctions];  // kNone = unused
  std::uint16_t depth;           // open calls and ranges around the polls
  // The arguments of the MPI_Iprobe and MPI_Improbe polls, as in MpiArgs; 0 or kNone32 if these polls differ.
  std::uint32_t comm;
  std::int32_t peer;
  std::int32_t tag;
};

struct NvtxArgs {
  std::uint64_t payload;      // raw bits
  std::uint32_t domain;       // Definition id; 0 = default domain
  std::uint32_t category;     // the caller's number; named by a kNvtxCategory definition
  std::uint32_t color;        // ARGB; 0 = none
  std::uint32_t extended;     // StringId of an extended payload as JSON
  std::uint8_t payload_type;  // nvtxPayloadType_t; 0 = none
  std::uint8_t reserved[3];
  std::int32_t start_tid;  // with kStartEnd: thread that began the range; else 0
  std::uint64_t reserved2;
};
static_assert(sizeof(NvtxArgs) == 40 && sizeof(MpiArgs) == 40 && sizeof(PollArgs) == 40);

struct NcclArgs {
  std::uint64_t count;      // the call's argument; ncclGroupEnd: number of operations in the group
  std::uint32_t comm;       // Definition id
  std::uint32_t sequence;   // as in MpiArgs
  std::int32_t peer;        // rank in `comm`: see PeerKind
  std::int32_t result;      // ncclResult_t
  std::uint32_t operation;  // CUPTI external correlation id of the call's device activity; 0 = none
  std::uint8_t datatype;    // ncclDataType_t; kNoByte = none
  std::uint8_t op;          // ncclRedOp_t up to ncclAvg; kUserOp = made by the user; kNoByte = none
  std::uint8_t group;       // 1 = launched by the outermost ncclGroupEnd
  std::uint8_t from_nvtx;   // 1 = known from NCCL's NVTX domain only
  std::uint64_t bytes;      // of this rank's send buffer (receives and scatters: receive buffer)
};
inline constexpr std::uint8_t kNoByte = 0xff, kUserOp = 0xfe;
/// From NCCL's profiler plugin interface.
struct NcclTaskArgs {
  Ticks call;              // Event::begin of the NCCL call that enqueued the operation; 0 = unknown
  std::uint64_t sequence;  // NCCL's count of this function's calls on the communicator, if is_collective
  StringId function;       // "AllReduce"
  StringId algorithm;      // "RING"; 0 = a send or receive
  StringId protocol;       // "LL"
  std::uint8_t channels;
  std::uint8_t warps;  // per channel, if is_collective
  std::uint8_t is_collective;
  std::uint8_t reserved[9];
};
static_assert(sizeof(NcclArgs) == 40 && sizeof(NcclTaskArgs) == 40);

/// Event::name has no version suffix: "cudaMalloc".
struct ApiArgs {
  std::uint32_t correlation;  // joins the call to its device activity; unique per process
  std::uint32_t callback_id;  // CUPTI's cbid
  std::int32_t tid;           // 0 = unknown
  std::uint32_t raw_thread;   // CUPTI's threadId: low 32 bits of the caller's pthread_t
  std::uint32_t result;
  std::uint32_t external;   // NcclArgs::operation; 0 = none
  std::uint8_t is_runtime;  // 0 = driver API
  std::uint8_t is_launch;   // 1 = launches a kernel, copy or memset
  std::uint8_t reserved[14];
};

/// Arguments of device activity: kKernel, kMemcpy, kMemcpyPeer, kMemset, kGraphRun. Event::name: mangled kernel name.
/// The members up to `stream` mean the same in GpuArgs, SyncArgs and CudaMemoryArgs, so they may be read from any of
/// them ([class.mem.general]: common initial sequence).
struct GpuArgs {
  std::uint32_t correlation;  // of the launch; 0 = unknown
  std::uint16_t device;
  std::uint16_t kind;  // copies: CopyKinds (profshim/device/activity_kinds.h); memset: CUpti_ActivityMemoryKind
  std::uint32_t context;
  std::uint32_t stream;
  std::uint64_t bytes;
  std::uint64_t graph_node;  // 0 = not part of a graph
  std::uint32_t graph;
  std::uint32_t external;  // of the launch: NcclArgs::operation; 0 = none
};
inline constexpr std::uint16_t kUnknownDevice = 0xffff;
/// Arguments of kCudaSync.
struct SyncArgs {
  std::uint32_t correlation;
  std::uint16_t device;  // or kUnknownDevice: CUPTI reports a context only
  std::uint16_t kind;    // CUpti_ActivitySynchronizationType
  std::uint32_t context;
  std::uint32_t stream;
  std::uint64_t event;          // number of the CUDA event; kUnknownNumber = none
  std::uint64_t record;         // correlation id of the cudaEventRecord that is awaited, or kUnknownNumber
  std::uint32_t record_stream;  // its stream; 0 = unknown
  std::uint32_t reserved;
};
inline constexpr std::uint64_t kUnknownNumber = ~std::uint64_t{0};
/// Arguments of kCudaMemory.
struct CudaMemoryArgs {
  std::uint32_t correlation;
  std::uint16_t device;
  std::uint16_t kind;  // CUpti_ActivityMemoryOperationType
  std::uint32_t context;
  std::uint32_t stream;
  std::uint64_t bytes;
  std::uint64_t address;
  std::uint32_t memory_kind;  // CUpti_ActivityMemoryKind
  std::uint32_t reserved;
};
/// Arguments of kCudaOverhead.
struct CudaOverheadArgs {
  std::uint16_t kind;  // CUpti_ActivityOverheadKind >> 16
  std::uint16_t reserved[19];
};
/// Arguments of the kContinuation of a kKernel.
struct KernelArgs {
  std::uint32_t grid[3];
  std::uint16_t block[3];
  std::uint16_t registers_per_thread;
  std::int32_t static_shared_bytes;
  std::int32_t dynamic_shared_bytes;
  std::uint16_t cluster[3];
  std::int16_t priority;  // of the stream, if has_priority
  std::uint16_t channel;
  std::uint8_t channel_type;  // CUpti_ChannelType; kNoByte = unknown
  std::uint8_t has_priority;
};
/// Arguments of the kContinuation of a kMemcpyPeer.
struct PeerArgs {
  std::uint32_t from_device, to_device, from_context, to_context;
  std::uint64_t reserved[3];
};
static_assert(sizeof(ApiArgs) == 40 && sizeof(GpuArgs) == 40 && sizeof(SyncArgs) == 40 &&
              sizeof(CudaMemoryArgs) == 40 && sizeof(CudaOverheadArgs) == 40 && sizeof(KernelArgs) == 40 &&
              sizeof(PeerArgs) == 40);

/// Hooks of hooks/cuda.def record these arguments while CUPTI is not available.
struct CudaCallArgs {
  std::uint64_t bytes;   // if has_bytes
  std::uint64_t stream;  // handle, if has_stream
  StringId kernel;       // mangled name; 0 = unknown or no launch
  std::int32_t result;
  std::uint8_t copy_kind;  // cudaMemcpyKind; kNoByte = no copy
  std::uint8_t has_bytes, has_stream;
  std::uint8_t reserved[13];
};
static_assert(sizeof(CudaCallArgs) == 40);

struct TorchArgs {
  std::uint64_t record_function;  // while the call is open: address of its at::RecordFunction. Then: tid of the
                                  // beginning thread, if another ended it (kStartEnd); else 0
  std::int64_t sequence;          // joins a backward function to its operator; or kNoSequence
  // JSON arrays with one element per input.
  StringId dims, strides, types, values;
  StringId stack;       // profshim/call_stack.h
  std::uint32_t group;  // of a torch.distributed collective: Definition id (kCommunicator)
};
inline constexpr std::int64_t kNoSequence = -1;

/// Event::name: see inject/torch/calls/rpc_request.h.
struct RpcArgs {
  std::uint64_t began_on;  // with kStartEnd: thread that sent the request; else 0
  std::int64_t id;         // PyTorch's number of the request, counted by its sender; or kNoRpcId
  std::uint64_t bytes;     // of the message without tensors
  StringId from, to;       // names of workers
  StringId stack;          // profshim/call_stack.h
  std::uint16_t type;      // torch::distributed::rpc::MessageType
  std::uint16_t reserved;
};
inline constexpr std::int64_t kNoRpcId = -1;

inline constexpr std::uint64_t kUnknownTotal = ~std::uint64_t{0};
/// From c10::reportMemoryUsageToProfiler. With kFailed, the allocation failed; then also from CUDA's allocators.
struct MemoryArgs {
  std::uint64_t address;
  std::int64_t bytes;         // < 0: released
  std::uint64_t allocated;    // bytes in use on the device afterwards; on the CPU only blocks that profshim saw
  std::uint64_t reserved;     // bytes that the allocator holds, used or free; both may be kUnknownTotal
  std::int16_t device_type;   // c10::DeviceType
  std::int16_t device_index;  // -1 = the CPU
  std::uint32_t reserved2;
};
static_assert(sizeof(TorchArgs) == 40 && sizeof(RpcArgs) == 40 && sizeof(MemoryArgs) == 40);

/// 0 = unused. Stored one after the other while the event is the thread's last.
struct PythonMarks {
  static constexpr std::size_t kMost = 5;
  std::uint64_t words[kMost];  // python_calls::Mark
};
struct PythonCallArgs {
  std::uint64_t id, parent;  // counted in a trace from 1; parent 0 = none
  std::int64_t module;       // number of the nn.Module among those of its class; or kNoModule
  std::uint64_t reserved[2];
};
inline constexpr std::int64_t kNoModule = -1;
static_assert(sizeof(PythonMarks) == 40 && sizeof(PythonCallArgs) == 40);

/// Arguments of a range with PhaseSource kSymbol, kPython, kKernel or kThread. Event::name: the function, (mangled)
/// kernel or thread.
struct PhaseArgs {
  std::uint32_t phases;  // bit N: phase N of the spec
  std::uint8_t resumed;  // 1 = a generator or coroutine continues: not the begin of the call
  std::uint8_t is_life;  // 1 = of a thread: its end is the end of the range
  std::uint8_t reserved[34];
};
static_assert(sizeof(PhaseArgs) == 40);

/// The count of one counter (counters.perf) in a range of phases.
struct PhaseCounterArgs {
  std::uint64_t value;
  std::uint64_t enabled_ns, ran_ns;  // see PerfReading
  std::uint32_t phases;              // as PhaseArgs
  std::uint8_t counter;              // PerfCounter
  std::uint8_t reserved[11];
};
static_assert(sizeof(PhaseCounterArgs) == 40);

struct StepArgs {
  std::int64_t index;   // 0, 1, ... over the run
  std::int64_t number;  // from the marker's name, or kNoStepNumber
  std::uint64_t reserved[3];
};
inline constexpr std::int64_t kNoStepNumber = std::numeric_limits<std::int64_t>::min();

/// The counters of [system]; src/kineto/system/ has their names and units.
enum class SystemCounter : std::uint16_t {
  kProcessCpu,        // percent of one CPU
  kProcessSystemCpu,  // the part of kProcessCpu inside the kernel
  kProcessThreads,
  kMachineCpu,  // percent of all CPUs
  kProcessMemory,
  kProcessMemoryPeak,
  kMachineMemory,  // available
  kCgroupMemory,   // used, if limited
  kDiskRead,
  kDiskWritten,
  kNetReceived,
  kNetSent,
  kGpuUse,
  kGpuMemory,
  kGpuSmClock,
  kGpuMemoryClock,
  kGpuPower,
  kCount
};
struct SystemArgs {
  double value;
  SystemCounter counter;
  std::uint16_t device;  // CUDA device of kGpu...
  std::uint8_t reserved[28];
};
static_assert(sizeof(SystemArgs) == 40);

/// Event::flags
enum : std::uint8_t {
  kAsyncSlice = 1,  // a non-blocking operation from post to completion
  kContinues = 2,   // the thread's next event is its kContinuation
  kStartEnd = 4,    // may end on another thread than it began on
  kUnfinished = 8,  // still open when the window or the process ended
  kFortran = 16,    // called from Fortran
  kFailed = 32,     // the real function returned an error
  kPhase = 64,      // a range of a [[phase]]: committed even outside windows
};

struct alignas(64) Event {
  Ticks begin = 0;
  Ticks end = 0;
  HookId hook = HookId::kNone;
  std::uint8_t flags = 0;
  union {
    std::uint8_t element_type = 0;  // of a torch.distributed collective: c10::ScalarType + 1; 0 = unknown
    PeerKind started_peer;          // MPI_Start: peer kind of its request; kNone: use peer_kind(hook)
  };
  union {
    StringId name = 0;                   // NVTX message, step marker, operator or kernel
    StringId stack;                      // MPI or NCCL function: profshim/call_stack.h
    python_calls::StackPart stack_part;  // of a kPythonStack
  };
  union {
    MpiArgs mpi;
    PollArgs polls;
    NvtxArgs nvtx;
    StepArgs step;
    SystemArgs system;
    PhaseArgs phase;
    PhaseCounterArgs phase_counter;
    TorchArgs torch;
    RpcArgs rpc;
    MemoryArgs memory;
    PythonMarks python_marks;
    PythonCallArgs python_call;
    NcclArgs nccl;
    NcclTaskArgs nccl_task;
    CudaCallArgs cuda_call;
    ApiArgs api;
    GpuArgs gpu;
    SyncArgs sync;
    CudaMemoryArgs cuda_memory;
    CudaOverheadArgs cuda_overhead;
    KernelArgs kernel;
    PeerArgs peer;
    std::uint64_t raw[5] = {};
  };
};
static_assert(sizeof(Event) == 64);

/// True if the call was open when the window or the process ended.
inline bool is_unfinished(const Event& call) { return call.end == 0 || (call.flags & kUnfinished) != 0; }

}  // namespace profshim
