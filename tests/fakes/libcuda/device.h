// The simulated GPUs that all fakes share. They live in the fake libcuda.so.1; the other fakes reach them through
// device_or_null(). Times are CLOCK_REALTIME nanoseconds.
//
// A stream's number is unique within its context (cuptiGetStreamIdEx in cupti_activity.h): 7 is the default stream, and
// 13 the first that a program makes.
//
// Each stream runs in order; streams overlap. The default stream does not wait for the others. Kernels only take time.
// A copy moves its data when it is submitted.
//
// Environment:
//   FAKE_CUDA_DEVICES      number of devices (1)
//   FAKE_CUDA_NO_DEVICE    1: cuInit fails with CUDA_ERROR_NO_DEVICE
//   FAKE_CUDA_MIG          1: each device is a MIG instance with 14 of its GPU's multiprocessors
//   FAKE_CUDA_MPS          1: the process is a client of MPS
//   FAKE_CUDA_DRIVER       result of cuDriverGetVersion (13000; 13020 and 13030 beside CUPTI 13.2 and 13.3)
//   FAKE_CUDA_CONTEXT_MS   time to create the first context (150), a fifth of it CPU time; real devices: 80 to 300 ms
//   FAKE_CUDA_THREAD_INIT_MS  time that cuInit takes on another thread than the main thread
//   FAKE_CUDA_THREAD_BUSY_MS  time in which that cuInit shares a CPU with nine threads, as on a busy machine
//   FAKE_CUDA_KERNEL_NS    duration of every kernel (2 us plus 10 ns for each 256 threads)
//   FAKE_CUDA_KERNELS      "gemm=50000,adam=20000": nanoseconds by a part of the kernel's name; overrides KERNEL_NS
//   FAKE_CUDA_COPY_MBPS    bandwidth of copies and memsets in MB/s (20000); each takes 1 us more
//   FAKE_CUDA_TIMELINE     file with a line for each activity that ran (%p = process id):
//                          kind start_ns end_ns device stream correlation bytes graph_id call_ns name
//                          (call_ns: begin of the launching call)
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>

namespace fake {

inline constexpr std::size_t kMostObservers = 8;

/// CUpti_CallbackDomain
enum class Domain : std::uint32_t { kDriver = 1, kRuntime = 2 };

struct ApiInfo {
  Domain domain;
  std::uint32_t callback_id;
  const char* name;  // as from cuptiGetCallbackName
};

struct CallState {
  const ApiInfo* info;
  const void* parameters;
  const char* symbol;  // kernel's mangled name, or null
  std::uint32_t correlation = 0;
  int result = 0;
  CallState* outer = nullptr;
  std::uint64_t began = 0;  // begin of the outermost call
  // Observers use the members below from enter() to exit().
  std::uint64_t begin = 0;
  std::uint64_t user_data = 0;
  std::uint32_t wanted = 0;
  std::array<std::optional<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>>, kMostObservers> kept;
};

struct Dim {
  unsigned x = 1, y = 1, z = 1;
};

enum class WorkKind { kKernel, kCopy, kPeerCopy, kSet, kGraph };

/// CUpti_ActivityMemoryKind
enum class MemoryKind : std::uint8_t { kUnknown, kPageable, kPinned, kDevice, kArray, kManaged };
/// CUpti_ActivityMemcpyKind
enum class CopyKind : std::uint8_t { kToDevice = 1, kToHost = 2, kOnDevice = 8, kOnHost = 9, kPeer = 10 };

/// Returns true if the activity may start at `start`, and may then delay `end`.
using Gate = std::function<bool(std::uint64_t start, std::uint64_t& end)>;

struct Work {
  WorkKind kind = WorkKind::kKernel;
  CopyKind copy = CopyKind::kToDevice;
  MemoryKind source = MemoryKind::kUnknown, target = MemoryKind::kUnknown;
  bool is_async = true;
  std::uint32_t value = 0;  // of a memset
  const char* name = "";    // kernel: mangled
  Dim grid, block;
  std::uint32_t shared_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint32_t to_device = 0, from_device = 0;  // peer copies
  std::uint64_t duration = 0;                    // 0: the simulator chooses
  Gate gate;  // called until true once the activity is next in its stream; only for NCCL's kernels

  // Set by the simulator.
  std::uint32_t correlation = 0, device = 0, context = 0, stream = 0, graph = 0;
  std::int32_t priority = 0;
  std::uint64_t graph_node = 0, called = 0, start = 0, end = 0, grid_id = 0;
  std::uint64_t graph_made = 0;  // when the graph was instantiated
  bool first_of_graph = false, last_of_graph = false;

  // Observers use the members below from submitted() to finished().
  std::uint64_t anchor = 0, anchor_realtime = 0;
  std::uint32_t wanted = 0;
  std::shared_ptr<void> record;
  std::array<std::optional<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::shared_ptr<void>>>,
             kMostObservers>
      kept;
};

/// CUpti_ActivitySynchronizationType
enum class SyncKind { kEvent = 1, kStreamWaitsForEvent = 2, kStream = 3, kContext = 4 };

/// Receives the simulator's events. submitted(), finished(), first_launch() and created_...() are called with the
/// simulator's lock held.
class Observer {
 public:
  virtual void enter(CallState& call) = 0;
  virtual void exit(CallState& call) = 0;
  virtual void submitted(Work& work) = 0;
  /// Called on any thread once the times are known. The times may lie in the future.
  virtual void finished(const Work& work) = 0;
  virtual void synchronized(SyncKind kind, std::uint32_t correlation, std::uint32_t context, std::uint32_t stream,
                            std::uint32_t event, std::uint64_t start, std::uint64_t end) = 0;
  virtual void recorded_event(std::uint32_t correlation, std::uint32_t context, std::uint32_t stream,
                              std::uint32_t event) = 0;
  virtual void memory(bool allocated, MemoryKind kind, std::uint32_t device, std::uint32_t context,
                      std::uint32_t correlation, const void* address, std::uint64_t bytes) = 0;
  virtual void first_launch(const char* kernel, std::uint32_t correlation) = 0;
  /// Called before cuInit returns.
  virtual void driver_initialized() = 0;
  virtual void created_context(std::uint32_t device, std::uint32_t context) = 0;
  virtual void created_stream(std::uint32_t context, std::uint32_t stream, std::int32_t priority) = 0;

 protected:
  ~Observer() = default;
};

/// CUPTI_SYNCHRONIZATION_INVALID_VALUE: the call names no stream.
inline constexpr std::uint32_t kNoStream = 0xffffffff;

/// Driver API results. The runtime has the same values.
enum Result : int {
  kOk = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kCaptureUnsupported = 900,
};

/// The simulator's interface; thread-safe. Stream handles null, 1 (legacy) and 2 (per thread) mean the default stream
/// of the current context.
class Device {
 public:
  /// The first call also runs InitializeInjection of the library CUDA_INJECTION64_PATH.
  virtual int init() = 0;
  virtual bool is_up() = 0;
  virtual int driver_version() = 0;
  virtual int device_count() = 0;
  virtual int current_device() = 0;
  virtual int set_device(int device) = 0;
  /// Returns the calling thread's current context, or else the primary context of its device.
  virtual void* context() = 0;
  virtual bool has_primary_context(int device) = 0;
  virtual void* create_context(int device) = 0;
  virtual int set_context(void* context) = 0;
  virtual int destroy_context(void* context) = 0;
  /// Destroys the current device's primary context.
  virtual int reset() = 0;
  virtual void make_first_context() = 0;

  virtual void set_observer(Observer* observer) = 0;
  /// Returns false if another copy of CUPTI owns the driver.
  virtual bool take_driver(const void* copy) = 0;
  virtual void let_driver_go(const void* copy) = 0;
  virtual void tell_of_contexts() = 0;
  virtual void tell_of_streams() = 0;
  virtual void begin_call(CallState& call) = 0;
  virtual void end_call(CallState& call) = 0;

  virtual void* create_stream(int priority) = 0;
  virtual int destroy_stream(void* stream) = 0;
  virtual int stream_id(void* stream, std::uint32_t* id) = 0;
  virtual int stream_priority(void* stream, int* priority) = 0;
  virtual int submit(void* stream, Work work) = 0;
  /// Sets Work::gate of the thread's next kernel, which the fake NCCL launches through the driver API.
  virtual void gate_next_kernel(Gate gate) = 0;
  virtual int synchronize_stream(void* stream) = 0;
  virtual int synchronize_device() = 0;
  virtual int query_stream(void* stream) = 0;
  /// Does not notify the observer.
  virtual void wait_until_idle() = 0;

  virtual void* create_event() = 0;
  virtual int destroy_event(void* event) = 0;
  virtual int record_event(void* event, void* stream) = 0;
  virtual int wait_event(void* stream, void* event) = 0;
  virtual int synchronize_event(void* event) = 0;
  virtual int query_event(void* event) = 0;
  virtual int elapsed(void* from, void* to, float* milliseconds) = 0;

  virtual int begin_capture(void* stream) = 0;
  virtual int end_capture(void* stream, void** graph) = 0;
  /// Sets `id` to the id of the graph under capture; 0 = none.
  virtual int capture_id(void* stream, std::uint64_t* id) = 0;
  virtual void* create_graph() = 0;
  virtual int destroy_graph(void* graph) = 0;
  virtual int graph_nodes(void* graph, std::size_t* count) = 0;
  virtual int instantiate(void* graph, void** executable) = 0;
  virtual int destroy_executable(void* executable) = 0;
  virtual int launch_graph(void* executable, void* stream) = 0;

  virtual void* allocate(std::size_t bytes, MemoryKind kind) = 0;
  virtual int release(void* address) = 0;
  /// Returns kPageable for memory that allocate() did not return.
  virtual MemoryKind memory_kind(const void* address) = 0;

 protected:
  ~Device() = default;
};

std::uint64_t realtime_ns();

/// Returns null without the fake libcuda.so.1, as on a machine without a driver.
inline Device* device_or_null() {
  static Device* const device = [] {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    auto* get = library ? reinterpret_cast<Device* (*)()>(dlsym(library, "fake_cuda_device")) : nullptr;
    return get ? get() : nullptr;
  }();
  return device;
}

class ApiCall {
 public:
  ApiCall(Device& device, const ApiInfo& info, const void* parameters = nullptr, const char* symbol = nullptr)
      : device_(device), state_{&info, parameters, symbol} {
    device_.begin_call(state_);
  }
  ~ApiCall() { device_.end_call(state_); }
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;
  int returns(int result) {
    state_.result = result;
    return result;
  }

 private:
  Device& device_;
  CallState state_;
};

}  // namespace fake
