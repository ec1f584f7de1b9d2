// device.h has the interface and the environment variables.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fakes/environment.h"
#include "fakes/libcuda/device.h"

namespace fake {

void pause_ns(std::uint64_t ns);
void wait_until(std::uint64_t then);

struct Graph {
  std::uint32_t id;
  std::vector<Work> nodes;
  std::uint64_t made = realtime_ns();
};

struct Event {
  std::uint32_t id, context;
  bool pending = false;  // recorded, but not yet reached by its stream
  std::uint64_t generation = 0;
  std::uint64_t time = 0;
  Graph* captured = nullptr;
};

struct Step {
  enum { kWork, kRecord, kWait } what = kWork;
  Work work;
  std::shared_ptr<Event> event;
  std::uint64_t generation = 0;
  std::uint64_t placed = realtime_ns();  // earliest start
};

struct Stream {
  std::uint32_t id, device, context;
  std::int32_t priority = 0;
  std::uint64_t busy_until = 0;
  std::uint64_t graph_start = 0;
  std::deque<Step> steps;
  Graph* capture = nullptr;
  // End times of the last 1024 launches. A launch blocks while 1024 are queued, as in the driver.
  std::array<std::uint64_t, 1024> ends{};
  std::size_t next_end = 0;
};

inline constinit thread_local CallState* innermost_call = nullptr;
inline constinit thread_local int current_device_of_thread = 0;
inline constinit thread_local std::uint32_t current_context_of_thread = 0;  // 0 = the device's primary context

class Simulator final : public Device {
 public:
  Simulator();

  int init() override;

  bool is_up() override;

  int driver_version() override;
  int device_count() override;
  int current_device() override;
  int set_device(int device) override;
  void* context() override;
  bool has_primary_context(int device) override;
  void* create_context(int device) override;
  int set_context(void* handle) override;
  int destroy_context(void* handle) override;

  int reset() override;

  void make_first_context() override;

  void set_observer(Observer* observer) override { observer_.store(observer, std::memory_order_release); }
  bool take_driver(const void* copy) override;
  void let_driver_go(const void* copy) override;
  void tell_of_contexts() override;
  void tell_of_streams() override;

  void begin_call(CallState& call) override;
  void end_call(CallState& call) override;

  void* create_stream(int priority) override;
  int destroy_stream(void* handle) override;
  int stream_id(void* handle, std::uint32_t* id) override;
  int stream_priority(void* handle, int* priority) override;

  int submit(void* handle, Work work) override;

  void gate_next_kernel(Gate gate) override;

  int synchronize_stream(void* handle) override;
  int synchronize_device() override;
  void wait_until_idle() override;
  int query_stream(void* handle) override;

  void* create_event() override;
  int destroy_event(void* handle) override;
  int record_event(void* handle, void* stream_handle) override;
  int wait_event(void* stream_handle, void* handle) override;
  int synchronize_event(void* handle) override;
  int query_event(void* handle) override;
  int elapsed(void* from, void* to, float* milliseconds) override;

  int begin_capture(void* handle) override;
  int end_capture(void* handle, void** graph) override;
  int capture_id(void* handle, std::uint64_t* id) override;
  void* create_graph() override;
  int destroy_graph(void* graph) override;
  int graph_nodes(void* graph, std::size_t* count) override;
  int instantiate(void* graph, void** executable) override;
  int destroy_executable(void* executable) override { return destroy_graph(executable); }
  int launch_graph(void* executable, void* handle) override;

  void* allocate(std::size_t bytes, MemoryKind kind) override;
  int release(void* address) override;
  MemoryKind memory_kind(const void* address) override;

 private:
  struct Allocation {
    std::size_t bytes = 0;
    MemoryKind kind = MemoryKind::kUnknown;
    std::uint32_t device = 0, context = 0;
  };
  void tell_memory(bool allocated, const Allocation& one, const void* address);
  static std::uint32_t correlation();

  static void inject();

  std::uint64_t duration_of(const Work& work);

  // Functions called with lock_ held, except init_result() and progress():

  int init_result() const;
  Graph* new_graph();
  static void* handle_of(std::uint32_t context);
  static std::uint32_t context_of(void* handle);
  std::uint32_t primary_of(std::uint32_t device);
  /// Keeps the context's streams allocated: a caller may still use their handles.
  void forget(std::uint32_t context);
  Stream* default_stream();
  Stream* find(void* handle);
  std::shared_ptr<Event> event_of(void* handle);

  void place(Stream& stream, Work work);

  void run(Stream& stream, Work& work, std::uint64_t start, std::uint64_t end);

  void tell(const Work& work);

  /// Repeats until no stream advances, since streams wait for each other's events.
  void advance_all();
  bool advance(Stream& stream);
  /// Starts or wakes the thread that advances streams while the program is busy.
  void wake_progress();
  void progress();

  // Functions called without lock_:

  int synchronize_quietly(void* handle);
  void tell_synchronized(SyncKind kind, std::uint32_t context, std::uint32_t stream, std::uint32_t event,
                         std::uint64_t begin);

  const bool no_device_ = number("FAKE_CUDA_NO_DEVICE") != 0;
  const int device_count_ = static_cast<int>(number("FAKE_CUDA_DEVICES", 1));
  const std::uint64_t kernel_ns_ = number("FAKE_CUDA_KERNEL_NS");
  const std::uint64_t copy_mbps_ = number("FAKE_CUDA_COPY_MBPS", 20000);
  const std::string kernels_ = text("FAKE_CUDA_KERNELS");
  std::FILE* timeline_ = nullptr;

  std::mutex init_lock_;
  bool init_begun_ = false;
  std::thread::id init_thread_;
  std::atomic<bool> initialized_{false};

  std::mutex context_lock_;
  std::atomic<bool> first_context_{false};

  std::atomic<Observer*> observer_{nullptr};
  std::atomic<const void*> cupti_{nullptr};
  std::atomic<std::uint32_t> correlations_{0};

  std::mutex lock_;
  std::condition_variable progress_wake_;
  bool progress_running_ = false;
  std::map<std::uint32_t, Stream*> defaults_;            // by context
  std::map<std::uint32_t, std::uint32_t> next_streams_;  // by context
  std::set<Stream*> streams_;
  std::map<Event*, std::shared_ptr<Event>> events_;
  std::map<Graph*, std::unique_ptr<Graph>> graphs_;
  std::map<void*, Allocation> allocations_;
  std::set<const void*> seen_;
  std::map<std::uint32_t, std::uint32_t> resets_;  // by device
  std::uint32_t contexts_made_ = 0, graphs_made_ = 0, events_made_ = 0;
  std::uint64_t grids_ = 0;
};

}  // namespace fake
