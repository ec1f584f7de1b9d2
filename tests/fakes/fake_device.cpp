// The simulator behind the fake CUDA libraries. See fake_device.h.
#include "fakes/fake_device.h"

#include <sched.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "fakes/environment.h"

namespace fake {

std::uint64_t realtime_ns() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000ull + static_cast<std::uint64_t>(now.tv_nsec);
}

namespace {

void pause_ns(std::uint64_t ns) {
  const timespec time{static_cast<time_t>(ns / 1000000000ull), static_cast<long>(ns % 1000000000ull)};
  nanosleep(&time, nullptr);
}

void wait_until(std::uint64_t then) {
  for (std::uint64_t now = realtime_ns(); now < then; now = realtime_ns()) {
    if (then - now > 80000)
      pause_ns(then - now - 60000);
    else
      sched_yield();
  }
}

struct Graph {
  std::uint32_t id;
  std::vector<Work> nodes;
  std::uint64_t made = realtime_ns();
};

struct Event {
  std::uint32_t id, context;
  bool pending = false;  // recorded on a stream that has not come so far
  std::uint64_t generation = 0;
  std::uint64_t time = 0;
  Graph* captured = nullptr;
};

/// What a stream still has to do: work, the record of an event, or the wait for one.
struct Step {
  enum { kWork, kRecord, kWait } what = kWork;
  Work work;
  std::shared_ptr<Event> event;
  std::uint64_t generation = 0;
  std::uint64_t placed = realtime_ns();  // nothing starts before that
};

struct Stream {
  std::uint32_t id, device, context;
  std::int32_t priority = 0;
  std::uint64_t busy_until = 0;
  std::uint64_t graph_start = 0;
  std::deque<Step> steps;  // what waits for something else
  Graph* capture = nullptr;
  // A launch blocks when this many are on their way, as the driver's does.
  std::array<std::uint64_t, 1024> ends{};
  std::size_t next_end = 0;
};

thread_local CallState* innermost_call;
thread_local int current_device_of_thread;
thread_local std::uint32_t current_context_of_thread;  // 0 = the primary context of the current device
thread_local Gate next_gate;

class Simulator final : public Device {
 public:
  Simulator() {
    if (const std::string path_name = path("FAKE_CUDA_TIMELINE"); !path_name.empty())
      timeline_ = std::fopen(path_name.c_str(), "we");
  }

  int init() override {
    // The injected library may use the API itself: it finds the driver up.
    if (initialised_.load(std::memory_order_acquire)) return init_result();
    bool first = false;
    {
      const std::lock_guard lock(init_lock_);
      first = !std::exchange(init_begun_, true);
      init_thread_ = first ? std::this_thread::get_id() : init_thread_;
    }
    if (first) {
      inject();  // before devices are looked for, also where there is none: seen with libcuda 535 and 550
      initialised_.store(true, std::memory_order_release);
      if (Observer* observer = observer_) observer->driver_initialised();
    } else if (init_thread_ != std::this_thread::get_id()) {
      while (!initialised_.load(std::memory_order_acquire)) sched_yield();
    }
    return init_result();
  }

  bool is_up() override { return initialised_.load(std::memory_order_acquire) && !no_device_; }

  int driver_version() override { return static_cast<int>(number("FAKE_CUDA_DRIVER", FAKE_CUDA_DRIVER_VERSION)); }
  int device_count() override { return no_device_ ? 0 : device_count_; }
  int current_device() override { return current_device_of_thread; }
  int set_device(int device) override {
    if (device < 0 || device >= device_count()) return kInvalidDevice;
    current_device_of_thread = device;
    current_context_of_thread = 0;
    return kOk;
  }
  void* context() override {
    const std::lock_guard lock(lock_);
    return handle_of(default_stream()->context);
  }
  bool has_primary_context(int device) override {
    const std::lock_guard lock(lock_);
    return defaults_.count(primary_of(static_cast<std::uint32_t>(device))) != 0;
  }
  void* create_context(int device) override {
    if (set_device(device) != kOk) return nullptr;
    const std::lock_guard lock(lock_);
    current_context_of_thread = 1000 + ++contexts_made_;
    return handle_of(default_stream()->context);
  }
  int set_context(void* handle) override {
    const std::lock_guard lock(lock_);
    const auto found = defaults_.find(context_of(handle));
    if (found == defaults_.end()) return kInvalidHandle;
    current_device_of_thread = static_cast<int>(found->second->device);
    current_context_of_thread = found->first;
    return kOk;
  }
  int destroy_context(void* handle) override {
    const std::lock_guard lock(lock_);
    const std::uint32_t context = context_of(handle);
    if (context < 1000 || defaults_.count(context) == 0) return kInvalidHandle;
    forget(context);
    if (current_context_of_thread == context) current_context_of_thread = 0;
    return kOk;
  }

  int reset() override {
    synchronise_device();
    const std::lock_guard lock(lock_);
    const std::uint32_t context = primary_of(static_cast<std::uint32_t>(current_device_of_thread));
    if (defaults_.count(context) == 0) return kOk;
    forget(context);
    current_context_of_thread = 0;
    ++resets_[static_cast<std::uint32_t>(current_device_of_thread)];
    return kOk;
  }

  void make_first_context() override {
    if (first_context_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(context_lock_);
    if (first_context_) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(number("FAKE_CUDA_CONTEXT_MS", 150)));
    first_context_.store(true, std::memory_order_release);
  }

  void set_observer(Observer* observer) override { observer_.store(observer, std::memory_order_release); }
  bool take_driver(const void* copy) override {
    const void* nobody = nullptr;
    return cupti_.compare_exchange_strong(nobody, copy) || nobody == copy;
  }
  void let_driver_go(const void* copy) override { cupti_.compare_exchange_strong(copy, nullptr); }
  void tell_of_contexts() override {
    const std::lock_guard lock(lock_);
    for (const auto& [context, stream] : defaults_)
      if (Observer* observer = observer_) observer->created_context(stream->device, stream->context);
  }
  void tell_of_streams() override {
    const std::lock_guard lock(lock_);
    for (const Stream* stream : streams_)
      if (Observer* observer = observer_) observer->created_stream(stream->context, stream->id, stream->priority);
  }

  void begin_call(CallState& call) override {
    call.outer = innermost_call;
    innermost_call = &call;
    call.correlation = call.outer ? call.outer->correlation : ++correlations_;
    call.began = call.outer ? call.outer->began : realtime_ns();
    if (Observer* observer = observer_.load(std::memory_order_acquire)) observer->enter(call);
  }
  void end_call(CallState& call) override {
    if (Observer* observer = observer_.load(std::memory_order_acquire)) observer->exit(call);
    innermost_call = call.outer;
  }

  void* create_stream(int priority) override {
    const std::lock_guard lock(lock_);
    const Stream* base = default_stream();
    auto* stream = new Stream{next_streams_[base->context]++, base->device, base->context, priority};
    streams_.insert(stream);
    if (Observer* observer = observer_) observer->created_stream(stream->context, stream->id, priority);
    return stream;
  }
  int destroy_stream(void* handle) override {
    synchronise_quietly(handle);
    const std::lock_guard lock(lock_);
    Stream* stream = find(handle);
    if (!stream || defaults_.count(stream->context) == 0 || defaults_[stream->context] == stream) return kInvalidHandle;
    streams_.erase(stream);
    delete stream;
    return kOk;
  }
  int stream_id(void* handle, std::uint32_t* id) override {
    const std::lock_guard lock(lock_);
    const Stream* stream = find(handle);
    if (!stream) return kInvalidHandle;
    *id = stream->id;
    return kOk;
  }
  int stream_priority(void* handle, int* priority) override {
    const std::lock_guard lock(lock_);
    const Stream* stream = find(handle);
    if (!stream) return kInvalidHandle;
    *priority = stream->priority;
    return kOk;
  }

  int submit(void* handle, Work work) override {
    std::uint64_t room = 0;
    {
      const std::lock_guard lock(lock_);
      Stream* stream = find(handle);
      if (!stream) return kInvalidHandle;
      if (work.duration == 0) work.duration = duration_of(work);
      if (work.kind == WorkKind::kKernel && next_gate) work.gate = std::exchange(next_gate, nullptr);
      if (stream->capture) {
        stream->capture->nodes.push_back(std::move(work));
        return kOk;
      }
      room = stream->ends[stream->next_end];
      place(*stream, std::move(work));
    }
    wait_until(room);
    return kOk;
  }

  void gate_next_kernel(Gate gate) override { next_gate = std::move(gate); }

  int synchronise_stream(void* handle) override {
    const std::uint64_t begin = realtime_ns();
    Stream copy;
    {
      const std::lock_guard lock(lock_);
      const Stream* stream = find(handle);
      if (!stream) return kInvalidHandle;
      if (stream->capture) return kCaptureUnsupported;
      copy.id = stream->id;
      copy.context = stream->context;
    }
    if (const int result = synchronise_quietly(handle); result != kOk) return result;
    tell_synchronised(SyncKind::kStream, copy.context, copy.id, 0, begin);
    return kOk;
  }
  int synchronise_device() override {
    const std::uint64_t begin = realtime_ns();
    std::uint32_t context = 0;
    for (;;) {
      std::uint64_t until = 0;
      bool waits = false;
      {
        const std::lock_guard lock(lock_);
        context = default_stream()->context;
        advance_all();
        for (const Stream* stream : streams_) {
          if (stream->context != context) continue;
          waits = waits || !stream->steps.empty();
          until = std::max(until, stream->busy_until);
        }
      }
      if (!waits) {
        wait_until(until);
        break;
      }
      pause_ns(20000);
    }
    tell_synchronised(SyncKind::kContext, context, kNoStream, 0, begin);
    return kOk;
  }
  void wait_until_idle() override {
    for (;;) {
      bool busy = false;
      {
        const std::lock_guard lock(lock_);
        advance_all();
        for (const Stream* stream : streams_) busy |= !stream->steps.empty() || stream->busy_until > realtime_ns();
      }
      if (!busy) return;
      pause_ns(100'000);
    }
  }
  int query_stream(void* handle) override {
    const std::lock_guard lock(lock_);
    Stream* stream = find(handle);
    if (!stream) return kInvalidHandle;
    advance_all();
    return stream->steps.empty() && stream->busy_until <= realtime_ns() ? kOk : kNotReady;
  }

  void* create_event() override {
    const std::lock_guard lock(lock_);
    auto event = std::make_shared<Event>(Event{++events_made_, default_stream()->context});
    events_[event.get()] = event;
    return event.get();
  }
  int destroy_event(void* handle) override {
    const std::lock_guard lock(lock_);
    return events_.erase(static_cast<Event*>(handle)) == 1 ? kOk : kInvalidHandle;
  }
  int record_event(void* handle, void* stream_handle) override {
    std::uint32_t context = 0, id = 0, event_id = 0;
    {
      const std::lock_guard lock(lock_);
      const auto event = event_of(handle);
      Stream* stream = find(stream_handle);
      if (!event || !stream) return kInvalidHandle;
      event->captured = stream->capture;
      if (stream->capture) return kOk;
      event->pending = true;
      stream->steps.push_back({Step::kRecord, {}, event, ++event->generation});
      advance_all();
      wake_progress();
      context = stream->context;
      id = stream->id;
      event_id = event->id;
    }
    if (Observer* observer = observer_) observer->recorded_event(correlation(), context, id, event_id);
    return kOk;
  }
  int wait_event(void* stream_handle, void* handle) override {
    const std::uint64_t begin = realtime_ns();
    std::uint32_t context = 0, id = 0, event_id = 0;
    {
      const std::lock_guard lock(lock_);
      const auto event = event_of(handle);
      Stream* stream = find(stream_handle);
      if (!event || !stream) return kInvalidHandle;
      if (event->captured) {
        stream->capture = event->captured;  // joins the capture
        return kOk;
      }
      stream->steps.push_back({Step::kWait, {}, event, event->generation});
      advance_all();
      wake_progress();
      context = stream->context;
      id = stream->id;
      event_id = event->id;
    }
    tell_synchronised(SyncKind::kStreamWaitsForEvent, context, id, event_id, begin);
    return kOk;
  }
  int synchronise_event(void* handle) override {
    const std::uint64_t begin = realtime_ns();
    std::uint32_t id = 0, context = 0;
    for (;;) {
      std::uint64_t until = 0;
      {
        const std::lock_guard lock(lock_);
        const auto event = event_of(handle);
        if (!event) return kInvalidHandle;
        id = event->id;
        context = event->context;
        advance_all();
        if (!event->pending) until = std::max<std::uint64_t>(event->time, 1);
      }
      if (until != 0) {
        wait_until(until);
        break;
      }
      pause_ns(20000);
    }
    tell_synchronised(SyncKind::kEvent, context, kNoStream, id, begin);
    return kOk;
  }
  int query_event(void* handle) override {
    const std::lock_guard lock(lock_);
    const auto event = event_of(handle);
    if (!event) return kInvalidHandle;
    advance_all();
    return !event->pending && event->time <= realtime_ns() ? kOk : kNotReady;
  }
  int elapsed(void* from, void* to, float* milliseconds) override {
    const std::lock_guard lock(lock_);
    const auto begin = event_of(from), end = event_of(to);
    if (!begin || !end || begin->generation == 0 || end->generation == 0) return kInvalidHandle;
    if (begin->pending || end->pending || end->time > realtime_ns()) return kNotReady;
    *milliseconds = static_cast<float>(static_cast<double>(static_cast<std::int64_t>(end->time - begin->time)) / 1e6);
    return kOk;
  }

  int begin_capture(void* handle) override {
    const std::lock_guard lock(lock_);
    Stream* stream = find(handle);
    if (!stream || stream->capture || stream == defaults_[stream->context]) return kCaptureUnsupported;
    stream->capture = new_graph();
    return kOk;
  }
  int end_capture(void* handle, void** graph) override {
    const std::lock_guard lock(lock_);
    Stream* stream = find(handle);
    if (!stream || !stream->capture) return kInvalidValue;
    Graph* const captured = stream->capture;
    for (Stream* other : streams_)
      if (other->capture == captured) other->capture = nullptr;
    for (auto& [key, event] : events_)
      if (event->captured == captured) event->captured = nullptr;
    *graph = captured;
    return kOk;
  }
  int capture_id(void* handle, std::uint64_t* id) override {
    const std::lock_guard lock(lock_);
    const Stream* stream = find(handle);
    if (!stream) return kInvalidHandle;
    *id = stream->capture ? stream->capture->id : 0;
    return kOk;
  }
  void* create_graph() override {
    const std::lock_guard lock(lock_);
    return new_graph();
  }
  int destroy_graph(void* graph) override {
    const std::lock_guard lock(lock_);
    return graphs_.erase(static_cast<Graph*>(graph)) == 1 ? kOk : kInvalidValue;
  }
  int graph_nodes(void* graph, std::size_t* count) override {
    const std::lock_guard lock(lock_);
    const auto found = graphs_.find(static_cast<Graph*>(graph));
    if (found == graphs_.end()) return kInvalidValue;
    *count = found->second->nodes.size();
    return kOk;
  }
  int instantiate(void* graph, void** executable) override {
    const std::lock_guard lock(lock_);
    const auto found = graphs_.find(static_cast<Graph*>(graph));
    if (found == graphs_.end()) return kInvalidValue;
    Graph* copy = new_graph();
    copy->nodes = found->second->nodes;
    *executable = copy;
    return kOk;
  }
  int destroy_executable(void* executable) override { return destroy_graph(executable); }
  int launch_graph(void* executable, void* handle) override {
    const std::lock_guard lock(lock_);
    const auto found = graphs_.find(static_cast<Graph*>(executable));
    Stream* stream = find(handle);
    if (found == graphs_.end() || !stream) return kInvalidValue;
    const Graph& graph = *found->second;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      Work work = graph.nodes[i];
      work.graph = graph.id;
      work.graph_made = graph.made;
      work.graph_node = (static_cast<std::uint64_t>(graph.id) << 32) | (i + 1);
      work.first_of_graph = i == 0;
      work.last_of_graph = i + 1 == graph.nodes.size();
      place(*stream, std::move(work));
    }
    return kOk;
  }

  void* allocate(std::size_t bytes, MemoryKind kind) override {
    void* const address = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
    if (!address) return nullptr;
    Allocation made;
    {
      const std::lock_guard lock(lock_);
      const Stream* const stream = default_stream();
      made = {bytes, kind, stream->device, stream->context};
      allocations_[address] = made;
    }
    tell_memory(true, made, address);
    return address;
  }
  int release(void* address) override {
    if (!address) return kOk;
    Allocation was;
    {
      const std::lock_guard lock(lock_);
      const auto found = allocations_.find(address);
      if (found == allocations_.end()) return kInvalidValue;
      was = found->second;
      allocations_.erase(found);
    }
    tell_memory(false, was, address);
    std::free(address);
    return kOk;
  }
  MemoryKind memory_kind(const void* address) override {
    const std::lock_guard lock(lock_);
    auto after = allocations_.upper_bound(const_cast<void*>(address));
    if (after == allocations_.begin()) return MemoryKind::kPageable;
    --after;
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(address) - static_cast<char*>(after->first));
    return offset < after->second.bytes ? after->second.kind : MemoryKind::kPageable;
  }

 private:
  struct Allocation {
    std::size_t bytes = 0;
    MemoryKind kind = MemoryKind::kUnknown;
    std::uint32_t device = 0, context = 0;
  };
  void tell_memory(bool allocated, const Allocation& one, const void* address) {
    Observer* const observer = observer_;
    if (observer) observer->memory(allocated, one.kind, one.device, one.context, correlation(), address, one.bytes);
  }
  static std::uint32_t correlation() { return innermost_call ? innermost_call->correlation : 0; }

  static void inject() {
    const char* library = std::getenv("CUDA_INJECTION64_PATH");
    if (!library || !*library || std::strcmp(library, "none") == 0) return;
    void* handle = dlopen(library, RTLD_NOW);
    if (!handle) {
      std::fprintf(stderr, "fake driver: %s\n", dlerror());
      return;
    }
    if (auto* start = reinterpret_cast<int (*)()>(dlsym(handle, "InitializeInjection"))) start();
  }

  std::uint64_t duration_of(const Work& work) {
    if (work.kind != WorkKind::kKernel) return 1000 + work.bytes * 1000 / copy_mbps_;
    std::uint64_t otherwise = kernel_ns_;
    if (otherwise == 0) {
      const auto threads = static_cast<std::uint64_t>(work.grid.x) * work.grid.y * work.grid.z * work.block.x *
                           work.block.y * work.block.z;
      otherwise = 2000 + threads / 256 * 10;
    }
    return kernels_.empty() ? otherwise : lookup(kernels_, work.name, otherwise);
  }

  // ---- all below: under lock_ ----

  int init_result() const { return no_device_ ? kNoDevice : kOk; }
  Graph* new_graph() {
    auto graph = std::make_unique<Graph>(Graph{++graphs_made_, {}});
    Graph* const key = graph.get();
    graphs_[key] = std::move(graph);
    return key;
  }
  static void* handle_of(std::uint32_t context) { return reinterpret_cast<void*>(std::uintptr_t{0x1000} + context); }
  static std::uint32_t context_of(void* handle) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(handle) - 0x1000);
  }
  std::uint32_t primary_of(std::uint32_t device) { return device + 1 + resets_[device] * 64; }
  /// The streams are not freed: a handle of before may still be asked for.
  void forget(std::uint32_t context) {
    std::erase_if(streams_, [context](const Stream* one) { return one->context == context; });
    defaults_.erase(context);
    seen_.clear();  // code is loaded into a context
  }
  Stream* default_stream() {
    const auto device = static_cast<std::uint32_t>(current_device_of_thread);
    const std::uint32_t context = current_context_of_thread != 0 ? current_context_of_thread : primary_of(device);
    Stream*& stream = defaults_[context];
    if (!stream) {
      stream = new Stream{7, device, context};
      next_streams_.emplace(context, 13);
      streams_.insert(stream);
      if (Observer* observer = observer_) {
        observer->created_context(device, stream->context);
        observer->created_stream(stream->context, stream->id, 0);
      }
    }
    return stream;
  }
  Stream* find(void* handle) {
    if (reinterpret_cast<std::uintptr_t>(handle) <= 2) return default_stream();
    auto* stream = static_cast<Stream*>(handle);
    return streams_.count(stream) ? stream : nullptr;
  }
  std::shared_ptr<Event> event_of(void* handle) {
    const auto found = events_.find(static_cast<Event*>(handle));
    return found == events_.end() ? nullptr : found->second;
  }

  void place(Stream& stream, Work work) {
    work.correlation = correlation();
    work.called = innermost_call ? innermost_call->began : realtime_ns();
    work.device = stream.device;
    work.context = stream.context;
    work.stream = stream.id;
    work.priority = stream.priority;
    work.grid_id = ++grids_;
    if (Observer* observer = observer_) {
      if (work.kind == WorkKind::kKernel && seen_.insert(work.name).second)
        observer->first_launch(work.name, work.correlation);
      observer->submitted(work);
    }
    const bool gated = static_cast<bool>(work.gate);
    if (stream.steps.empty() && !gated) {
      run(stream, work, std::max(realtime_ns(), stream.busy_until), 0);
      return;
    }
    stream.steps.push_back({Step::kWork, std::move(work), nullptr, 0});
    advance_all();
    wake_progress();
  }

  void run(Stream& stream, Work& work, std::uint64_t start, std::uint64_t end) {
    work.start = start;
    work.end = std::max(start + work.duration, end);
    stream.busy_until = work.end;
    stream.ends[stream.next_end] = work.end;
    stream.next_end = (stream.next_end + 1) % stream.ends.size();
    tell(work);
    if (work.first_of_graph) stream.graph_start = work.start;
    if (work.last_of_graph) {
      Work graph = work;
      graph.kind = WorkKind::kGraph;
      graph.name = "";
      graph.start = stream.graph_start;
      tell(graph);
    }
  }

  void tell(const Work& work) {
    if (timeline_) {
      static constexpr const char* kNames[] = {"kernel", "memcpy", "memcpy_peer", "memset", "graph"};
      std::fprintf(timeline_, "%s %llu %llu %u %u %u %llu %u %llu %s\n", kNames[static_cast<int>(work.kind)],
                   static_cast<unsigned long long>(work.start), static_cast<unsigned long long>(work.end), work.device,
                   work.stream, work.correlation, static_cast<unsigned long long>(work.bytes), work.graph,
                   static_cast<unsigned long long>(work.called), work.name);
      std::fflush(timeline_);
    }
    if (Observer* observer = observer_) observer->finished(work);
  }

  /// Lets every stream come as far as it can. Streams wait for each other, so until nothing moves any more.
  void advance_all() {
    for (bool moved = true; moved;) {
      moved = false;
      for (Stream* stream : streams_)
        while (!stream->steps.empty() && advance(*stream)) moved = true;
    }
  }
  bool advance(Stream& stream) {
    Step& step = stream.steps.front();
    switch (step.what) {
      case Step::kRecord:
        if (step.generation == step.event->generation) {
          step.event->pending = false;
          step.event->time = std::max(step.placed, stream.busy_until);
        }
        break;
      case Step::kWait:
        if (step.generation == step.event->generation && step.event->pending) return false;
        stream.busy_until = std::max(stream.busy_until, step.event->time);
        break;
      case Step::kWork: {
        std::uint64_t end = 0;
        const std::uint64_t start = std::max(step.placed, stream.busy_until);
        if (step.work.gate && !step.work.gate(start, end)) return false;
        run(stream, step.work, start, end);
        break;
      }
    }
    stream.steps.pop_front();
    return true;
  }
  /// Streams that wait come on also while the program is busy with something else.
  void wake_progress() {
    bool waits = false;
    for (const Stream* stream : streams_) waits = waits || !stream->steps.empty();
    if (!waits) return;
    if (!progress_running_) {
      progress_running_ = true;
      std::thread([this] { progress(); }).detach();
    }
    progress_wake_.notify_one();
  }
  void progress() {
    std::unique_lock lock(lock_);
    for (;;) {
      bool waits = false;
      for (const Stream* stream : streams_) waits = waits || !stream->steps.empty();
      if (!waits) {
        progress_wake_.wait(lock);
        continue;
      }
      advance_all();
      lock.unlock();
      pause_ns(50000);
      lock.lock();
    }
  }

  // ---- without the lock ----

  int synchronise_quietly(void* handle) {
    for (;;) {
      std::uint64_t until = 0;
      bool waits = false;
      {
        const std::lock_guard lock(lock_);
        Stream* stream = find(handle);
        if (!stream) return kInvalidHandle;
        advance_all();
        waits = !stream->steps.empty();
        until = stream->busy_until;
      }
      if (!waits) {
        wait_until(until);
        return kOk;
      }
      pause_ns(20000);
    }
  }
  void tell_synchronised(SyncKind kind, std::uint32_t context, std::uint32_t stream, std::uint32_t event,
                         std::uint64_t begin) {
    if (Observer* observer = observer_)
      observer->synchronised(kind, correlation(), context, stream, event, begin, realtime_ns());
  }

  const bool no_device_ = number("FAKE_CUDA_NO_DEVICE") != 0;
  const int device_count_ = static_cast<int>(number("FAKE_CUDA_DEVICES", 1));
  const std::uint64_t kernel_ns_ = number("FAKE_CUDA_KERNEL_NS");
  const std::uint64_t copy_mbps_ = number("FAKE_CUDA_COPY_MBPS", 20000);
  const std::string kernels_ = text("FAKE_CUDA_KERNELS");
  std::FILE* timeline_ = nullptr;

  std::mutex init_lock_;
  bool init_begun_ = false;
  std::thread::id init_thread_;
  std::atomic<bool> initialised_{false};

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

}  // namespace
}  // namespace fake

/// The way in for the other fakes: never torn down, since a job's threads may still launch while it ends.
extern "C" __attribute__((visibility("default"))) fake::Device* fake_cuda_device() {
  static auto* const device = new fake::Simulator;
  return device;
}
