// libcupti of the fakes: the Activity API and the part of the Callback API that the library and other profilers use,
// fed by the simulator of fake_device.h. Built as libcupti.so.11.8, .12 (12.4) and .13 (13.0, 13.2 and 13.3):
// FAKE_CUPTI_VERSION is what cuptiGetVersion says (18, 22, 130001, 130201, 130301) and decides the record layouts and
// which functions there are.
//
// As in the real one:
// - Records go into one buffer per thread (13.0) or one for all calls and one for the device: the note on
//   CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER in cupti_activity.h.
// - The record of a kernel, copy or memset is in its buffer from the launch on, and is incomplete until the work has
//   ended. cuptiActivityFlushAll(0) and the worker thread return no buffer with an incomplete record; a forced flush
//   returns every buffer, with times of 0 in incomplete records: the notes on cuptiActivityFlushAll and
//   cuptiActivityFlushPeriod in cupti_activity.h.
// - Device records are written when the driver is initialized, context and stream records when a context or stream is
//   made; those that exist already come through cuptiActivityEnableAndDump only: its note in cupti_activity.h.
// - Nothing can be initialized before cuInit has ended, or without a device: CUPTI_ERROR_NOT_INITIALIZED.
// - 13.3: several subscribers that allow it, each with kinds, buffers and external correlation of its own
//   (cuptiActivityEnable_v2 ...). The functions of the process and those of a subscriber do not mix: "global-scope
//   activity APIs were previously used. Cannot mix", CUPTI_ERROR_NOT_COMPATIBLE, until the last subscriber has
//   unsubscribed. cuptiActivityRegisterTimestampCallback is of the process. cuptiActivityFlushAll flushes for all.
//   Read in libcupti.so.13 of 13.3.75 and its headers.
// - 13.2 has some of the functions of subscribers. Buffer callbacks that a subscriber registers get the records of
//   everybody until it unsubscribes, and those of the process have no effect meanwhile. Read in libcupti.so.13 of
//   13.2.75.
// - Otherwise one subscriber per process; a driver call inside a runtime call has its correlation; a buffer request
//   answered with NULL crashes before 12.9 and drops the record after.
//
// Environment (faults: every Nth device record; 0 = never):
//   FAKE_CUPTI_DROP=N         is dropped, and counted by cuptiActivityGetNumDroppedRecords
//   FAKE_CUPTI_ZERO_TIME=N    has no times (0, 0)
//   FAKE_CUPTI_BACKWARD=N     ends before it begins
//   FAKE_CUPTI_FAR=N          lies an hour in the past
//   FAKE_CUPTI_UNKNOWN=N      has a correlation that no call has
//   FAKE_CUPTI_RESERVE=0      records of device work are written when it has ended, as with the hardware's event system
//                             (cuptiActivityEnableHWTrace)
//   FAKE_CUPTI_SHUFFLE=1      likewise, and in any order
//   FAKE_CUPTI_LATE_MS=N      device records are complete so much after the end of the work
//   FAKE_CUPTI_SLOW_FLUSH_MS=N  a forced flush takes so long before it hands anything over
//   FAKE_CUPTI_SLOW_ENABLE_MS=N  kernels are switched on so late (over 5 s were seen: kineto, pull request 542)
//   FAKE_CUPTI_SYNCHRONIZES=1  switching kernels on waits until every device is idle
//   FAKE_CUPTI_RECURSES=1     cuptiGetVersion ends the process where CUPTI cannot be initialized: 13.2.23 to 13.2.86
//                             call themselves without end there (seen)
//   FAKE_CUPTI_HEAD_KERNEL=1  a timestamp callback that was registered k times more spoils the first k device
//                             records of every session from then on: their times are of CUPTI's default clock
//                             (pytorch#192021, which does not name it: 1 is CLOCK_REALTIME, 2 CLOCK_MONOTONIC)
//   FAKE_CUPTI_OLD_GRAPHS=1   graphs that were instantiated before a kind was ever enabled have no records of their
//                             nodes (torch.profiler._utils._init_for_cuda_graphs works around it)
//   FAKE_CUPTI_GRAPH_SESSIONS=1  in every session but the first, the nodes of a graph launch have the correlation
//                             of the launch before (13.0.85: kineto#1165, mended in 13.1 update 1)
//   FAKE_CUPTI_DISABLE_HANGS_MS=N  the first disable of kernels takes so long (13.0 GA: it waits for a lock that a
//                             launch holds)
//   FAKE_CUPTI_BLOCKS=1       no call of the API runs while a kind is switched on or off
//   FAKE_CUPTI_COST_NS=N      every call costs so much more from the first enable to cuptiFinalize (pytorch#146604)
//   FAKE_CUPTI_POOL=N         the next kernel of a graph after N ends before it begins, and all others have times of 0
//                             (parcagpu#23: one and 100,196 of 100,197, when the pool of device buffers ran out)
//   FAKE_CUPTI_CALLBACK_LOCK=1  nothing is switched on or off while a callback of the Callback API runs
//   FAKE_CUPTI_FAIL=f=r,...   functions whose name contains f return r ("ActivityEnable=15")
//   FAKE_CUPTI_NO_CLOCK=1     cuptiActivityRegisterTimestampCallback is not supported
//   FAKE_CUPTI_SUBSCRIBED=1   another subscriber was there before
//   FAKE_CUPTI_NESTED=0       driver calls inside runtime calls are not reported
//   FAKE_CUPTI_PER_THREAD=1   records of calls go into one buffer per thread also before 13.0
//   FAKE_CUPTI_LOG=file       a line for every call of CUPTI: nanoseconds, function, arguments (%p = process id)
//   FAKE_CUPTI_STATE=file     what was made, delivered and left on, when the process ends (%p = process id)
//
// With the macro FAKE_CUPTI_STATIC it is a copy inside a program, as libcupti_static.a. The copy that subscribes or
// enables first has the driver until its cuptiFinalize; the other gets CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
// from both (pytorch#117935). It writes no log and no state.
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <shared_mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "fakes/cupti_records.h"
#include "fakes/environment.h"
#include "fakes/fake_device.h"

namespace {

using namespace fake::cupti;
using fake::CallState;
using fake::number;
using fake::Work;
using fake::WorkKind;

constexpr Sizes kSizes = FAKE_CUPTI_VERSION >= 130300   ? kSizes133
                         : FAKE_CUPTI_VERSION >= 130200 ? kSizes132
                         : FAKE_CUPTI_VERSION >= 130000 ? kSizes130
                                                        : (FAKE_CUPTI_VERSION >= 22 ? kSizes124 : kSizes118);

enum Result : int {
  kOk = 0,
  kInvalidParameter = 1,
  kMaximumReached = 12,
  kInvalidOperation = 7,
  kNotCompatible = 14,
  kNotInitialised = 15,
  kQueueEmpty = 18,
  kInvalidKind = 21,
  kNotSupported = 27,
  kSeveralSubscribers = 39,
  kUnknown = 999,
};

using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* maximum_records);
using CompleteBuffer = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                std::size_t valid_size);
using RequestOfSubscriber = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* maximum_records, void*);
using CompleteOfSubscriber = void (*)(std::uint8_t* buffer, std::size_t size, std::size_t valid_size, void*);
using Timestamp = std::uint64_t (*)();

struct CallbackData {  // CUpti_CallbackData
  std::uint32_t site;
  const char* function_name;
  const void* parameters;
  void* return_value;
  const char* symbol;
  void* context;
  std::uint32_t context_id;
  std::uint64_t* user_data;
  std::uint32_t correlation;
};
using Callback = void (*)(void* user, std::uint32_t domain, std::uint32_t callback_id, const void* data);

struct Subscriber {
  Callback callback = nullptr;
  void* user = nullptr;
};

std::uint64_t realtime() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000ull + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t monotonic() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000ull + static_cast<std::uint64_t>(now.tv_nsec);
}

/// A buffer of the client's that is being filled.
struct Buffer {
  std::uint8_t* data = nullptr;
  std::size_t size = 0, used = 0, records = 0, maximum = 0;
  std::mutex lock;  // of what follows
  std::size_t incomplete = 0;
  bool returned = false;
  /// May it go back to the client? From then on nothing is written into it.
  bool give_back(bool forced) {
    const std::lock_guard guard(lock);
    if (incomplete > 0 && !forced) return false;
    returned = true;
    return true;
  }
};
using SharedBuffer = std::shared_ptr<Buffer>;
struct Lane {
  std::mutex lock;
  SharedBuffer buffer = std::make_shared<Buffer>();
};
/// The place of an incomplete record.
struct Reserved {
  SharedBuffer buffer;
  std::size_t offset = 0;
};

struct Counters {
  std::atomic<std::uint64_t> requested{0}, completed{0}, dropped{0}, shared{0}, records[kKinds] = {};
};

/// Bits of CallState::wanted.
enum : std::uint32_t { kWantsApi = 1, kWantsExternal = 2, kWantsCallback = 4 };

/// When a kind was first enabled; 0 = never, or CUPTI was finalized since.
std::atomic<std::uint64_t> first_enable{0};

/// Has the simulator tell every client.
void observe();

/// One client: the process, or a subscriber of 13.3.
class Cupti final : public fake::Observer {
 public:
  explicit Cupti(bool is_subscriber = false) : is_subscriber_(is_subscriber) {}
  // ---- what the client calls ----

  int register_callbacks(RequestBuffer request, CompleteBuffer complete) {
    if (!request || !complete) return kInvalidParameter;
    if (taken_) return kOk;
    request_ = request;
    complete_ = complete;
    return kOk;
  }
  /// 13.2: a subscriber's callbacks get the records of the process; null: it has gone.
  void taken(RequestOfSubscriber request, CompleteOfSubscriber complete) {
    if (request != nullptr) register_callbacks_v2(request, complete);
    if (request == nullptr && taken_) request_ = nullptr, complete_ = nullptr;
    taken_ = request != nullptr;
  }
  int register_callbacks_v2(RequestOfSubscriber request, CompleteOfSubscriber complete) {
    if (!request || !complete) return kInvalidParameter;
    request_ = [request](auto... arguments) { request(arguments..., nullptr); };
    complete_ = [complete](void*, std::uint32_t, auto... arguments) { complete(arguments..., nullptr); };
    return kOk;
  }
  int register_timestamp(Timestamp timestamp) {
    if (number("FAKE_CUPTI_NO_CLOCK")) return kNotSupported;
    if (timestamp_ != nullptr && head_clock_ != 0) ++registered_again_;
    // The rate of the client's clock, for the times of the device.
    timestamp_ = timestamp;
    std::tie(clock_anchor_, realtime_anchor_) = anchor();
    const std::lock_guard lock(order_lock_);
    last_of_stream_.clear();
    return kOk;
  }
  int enable(std::uint32_t kind, bool on, bool dump) {
    if (kind == 0 || kind >= kKinds) return kInvalidKind;
    if (on && !complete_) return kNotInitialised;
    const std::unique_lock no_callback = without_callbacks();
    const std::unique_lock no_call = without_calls();
    fake::Device* const device = fake::device_or_null();
    if (on && kind == kConcurrentKernel) {
      std::this_thread::sleep_for(std::chrono::milliseconds(slow_enable_ms_));
      if (number("FAKE_CUPTI_SYNCHRONIZES") != 0) device->wait_until_idle();
      ++sessions_;
      spoiled_ = registered_again_.load();
    }
    if (on) first_enabled(realtime());
    if (!on && kind == kConcurrentKernel && sessions_ > 0) {
      static std::atomic<bool> hung{false};
      if (!hung.exchange(true)) std::this_thread::sleep_for(std::chrono::milliseconds(disable_hangs_ms_));
    }
    {
      const std::lock_guard lock(kinds_lock_);
      kinds_[kind] = on;
      if (!on && kind == kRuntime) all_runtime_ = false;
      if (!on && kind == kDriver) all_driver_ = false;
      if (on && kind == kRuntime) all_runtime_ = true;
      if (on && kind == kDriver) all_driver_ = true;
    }
    watch();
    if (dump && kind == kDevice) tell_devices(*device);
    if (dump && kind == kContext) device->tell_of_contexts();
    if (dump && kind == kStream) device->tell_of_streams();
    return kOk;
  }
  int enable_call(fake::Domain domain, std::uint32_t callback_id, bool on) {
    if (on && !complete_) return kNotInitialised;
    const std::unique_lock no_callback = without_callbacks();
    {
      const std::lock_guard lock(kinds_lock_);
      auto& single = domain == fake::Domain::kRuntime ? single_runtime_ : single_driver_;
      if (on)
        single.insert(callback_id);
      else
        single.erase(callback_id);
      kinds_[domain == fake::Domain::kRuntime ? kRuntime : kDriver] =
          !single.empty() || (domain == fake::Domain::kRuntime ? all_runtime_ : all_driver_);
    }
    watch();
    return kOk;
  }
  void subscribe(Callback callback, void* user) {
    mine_ = {callback, user};
    subscribed_ = true;
    watch();
  }
  void unsubscribe() {
    subscribed_ = false;
    const std::lock_guard lock(kinds_lock_);
    callbacks_.clear();
    domains_.clear();
  }
  int enable_callback(bool on, std::uint32_t domain, std::uint32_t callback_id) {
    if (!subscribed_) return kInvalidParameter;
    const std::lock_guard lock(kinds_lock_);
    if (on)
      callbacks_.insert({domain, callback_id});
    else
      callbacks_.erase({domain, callback_id});
    return kOk;
  }
  int enable_domain(bool on, std::uint32_t domain) {
    if (!subscribed_) return kInvalidParameter;
    const std::lock_guard lock(kinds_lock_);
    if (on)
      domains_.insert(domain);
    else
      domains_.erase(domain);
    return kOk;
  }
  int push_external(std::uint32_t kind, std::uint64_t id) {
    external().stacks[kind].push_back(id);
    return kOk;
  }
  int pop_external(std::uint32_t kind, std::uint64_t* last) {
    auto& stack = external().stacks[kind];
    if (stack.empty()) return kQueueEmpty;
    if (last) *last = stack.back();
    stack.pop_back();
    return kOk;
  }
  int flush(bool forced) {
    if (!complete_) return kInvalidOperation;
    const std::uint64_t begin = now();
    if (forced && slow_flush_ms_ != 0) std::this_thread::sleep_for(std::chrono::milliseconds(slow_flush_ms_));
    take_finished(forced);
    std::size_t records = 0;
    std::vector<SharedBuffer> ready;
    {
      const std::lock_guard lock(lanes_lock_);
      for (const auto& lane : lanes_) {
        const std::lock_guard lane_lock(lane->lock);
        if (lane->buffer->records == 0 || !lane->buffer->give_back(forced)) continue;
        records += lane->buffer->records;
        ready.push_back(std::exchange(lane->buffer, std::make_shared<Buffer>()));
      }
    }
    hand_over_full(forced);
    for (const SharedBuffer& buffer : ready) hand_over(*buffer);
    wait_for_worker();
    if (kinds_[kOverhead] && records > 1) overhead(1u << 16, begin, now(), 0);
    return kOk;
  }
  void all_off() {
    const std::lock_guard lock(kinds_lock_);
    std::fill(std::begin(kinds_), std::end(kinds_), false);
    all_runtime_ = all_driver_ = false;
    single_runtime_.clear();
    single_driver_.clear();
  }
  void finalize() {
    all_off();
    unsubscribe();
    first_enable = 0;
    request_ = nullptr;
    complete_ = nullptr;
    timestamp_ = nullptr;
  }
  std::uint64_t dropped() { return counters_.dropped.exchange(0); }
  void per_thread(bool on) { per_thread_ = on; }
  void thread_id_type(std::uint32_t type) { system_thread_ids_ = type == 1; }
  std::uint64_t now() const {
    const Timestamp timestamp = timestamp_;
    return timestamp ? timestamp() : realtime();
  }

  struct State {
    std::uint64_t requested = 0, completed = 0, dropped = 0, shared = 0, records[kKinds] = {};
    bool subscribed = false, enabled[kKinds] = {};
  };
  void add_to(State& state) const {
    state.requested += counters_.requested;
    state.completed += counters_.completed;
    state.dropped += all_dropped_;
    state.shared += counters_.shared;
    state.subscribed = state.subscribed || subscribed_;
    for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
      state.records[kind] += counters_.records[kind];
      state.enabled[kind] = state.enabled[kind] || kinds_[kind];
    }
  }

  // ---- what the simulator tells ----

  void enter(CallState& call) override {
    if (blocks_) calls_lock_.lock_shared();
    if (first_enable != 0 && cost_ns_ != 0) {
      for (const std::uint64_t until = realtime() + cost_ns_; realtime() < until;) continue;
    }
    const bool nested_unwanted = call.outer && !nested_;
    call.wanted = 0;
    if (!nested_unwanted && wants_call(*call.info)) call.wanted |= kWantsApi;
    if (wants_callback(*call.info)) {
      call.wanted |= kWantsCallback;
      call_back(call, 0);
    }
    if (call.wanted & kWantsApi) call.begin = now();
  }
  void exit(CallState& call) override {
    if (call.wanted & kWantsApi) {
      const std::uint64_t end = now();
      if (kinds_[kExternalCorrelation]) {
        for (const auto& [kind, stack] : external().stacks) {
          if (stack.empty()) continue;
          write(thread_lane(),
                ExternalCorrelation{fake::cupti::kExternalCorrelation, kind, stack.back(), call.correlation, 0});
        }
      }
      Api api{};
      api.kind = call.info->domain == fake::Domain::kRuntime ? kRuntime : kDriver;
      api.callback_id = call.info->callback_id;
      api.start = call.begin;
      api.end = end;
      api.process = static_cast<std::uint32_t>(getpid());
      api.thread =
          system_thread_ids_ ? static_cast<std::uint32_t>(gettid()) : static_cast<std::uint32_t>(pthread_self());
      api.correlation = call.correlation;
      api.result = static_cast<std::uint32_t>(call.result);
      write(thread_lane(), api);
    }
    if (call.wanted & kWantsCallback) call_back(call, 1);
    if (blocks_) calls_lock_.unlock_shared();
  }
  void submitted(Work& work) override {
    anchor(work);
    bool wanted = false;
    work.wanted = 0;
    if (old_graphs_ && work.graph != 0 && (first_enable == 0 || work.graph_made < first_enable)) return;
    if (work.first_of_graph) last_graph_ = std::exchange(this_graph_, work.correlation);
    // CUPTI_ACTIVITY_ATTR_ENABLE_MULTI_SUBSCRIBER_GRAPH_TRACE in cupti_activity.h of 13.3: subscribers get nodes.
    if (kinds_[kGraphTrace] && work.graph != 0 && !is_subscriber_) {
      work.wanted = work.last_of_graph ? static_cast<std::uint32_t>(kGraphTrace) : 0;
      if (work.wanted == 0 || !reserves_) return;
      Work graph = work;
      graph.kind = WorkKind::kGraph;
      reserve(graph);
      work.record = graph.record;
      return;
    }
    switch (work.kind) {
      case WorkKind::kKernel:
        wanted = kinds_[kConcurrentKernel] || kinds_[kKernel];
        break;
      case WorkKind::kCopy:
        wanted = kinds_[kMemcpy];
        break;
      case WorkKind::kPeerCopy:
        wanted = kinds_[kMemcpy] && kinds_[kMemcpyPeer];
        break;
      case WorkKind::kSet:
        wanted = kinds_[kMemset];
        break;
      case WorkKind::kGraph:
        break;
    }
    work.wanted = wanted ? 1 : 0;
    if (wanted && reserves_) reserve(work);
  }
  void driver_initialised() override {
    if (kinds_[kDevice]) tell_devices(*fake::device_or_null());
  }
  void finished(const Work& work) override {
    // The last node of a graph carries the wish for the whole graph's record.
    const bool is_graph = work.kind == WorkKind::kGraph;
    if (work.wanted == 0 || is_graph != (work.wanted == kGraphTrace)) return;
    const std::lock_guard lock(finished_lock_);
    finished_.push_back({work.end + late_ns_, work});
    std::push_heap(finished_.begin(), finished_.end(), later);
    if (finished_.size() == 1) worker_wake_.notify_one();
  }
  void synchronised(fake::SyncKind kind, std::uint32_t correlation, std::uint32_t context, std::uint32_t stream,
                    std::uint32_t event, std::uint64_t start, std::uint64_t end) override {
    if (!kinds_[kSynchronization]) return;
    Synchronization record{};
    record.kind = kSynchronization;
    record.type = static_cast<std::uint32_t>(kind);
    const auto [at, at_realtime] = anchor();
    record.start = device_time(start, at, at_realtime);
    record.end = device_time(end, at, at_realtime);
    record.correlation = correlation;
    record.context = context;
    record.stream = stream;
    record.event = event;
    write(thread_lane(), record);
  }
  void recorded_event(std::uint32_t correlation, std::uint32_t context, std::uint32_t stream,
                      std::uint32_t event) override {
    if (!kinds_[kCudaEvent]) return;
    CudaEvent record{};
    record.kind = kCudaEvent;
    record.correlation = correlation;
    record.context = context;
    record.stream = stream;
    record.event = event;
    write(thread_lane(), record);
  }
  void memory(bool allocated, fake::MemoryKind kind, std::uint32_t device, std::uint32_t context,
              std::uint32_t correlation, const void* address, std::uint64_t bytes) override {
    if (!kinds_[kMemory2]) return;
    Memory record{};
    record.kind = kMemory2;
    record.operation = allocated ? 1 : 2;
    record.memory_kind = static_cast<std::uint32_t>(kind);
    record.correlation = correlation;
    record.address = reinterpret_cast<std::uint64_t>(address);
    record.bytes = bytes;
    record.timestamp = now();
    record.process = static_cast<std::uint32_t>(getpid());
    record.device = device;
    record.context = context;
    record.stream = fake::kNoStream;
    write(thread_lane(), record);
  }
  void first_launch(const char*, std::uint32_t correlation) override {
    if (!kinds_[kOverhead]) return;
    const std::uint64_t begin = now();
    overhead(5u << 16, begin, begin + 1, correlation);
  }
  void created_context(std::uint32_t device, std::uint32_t context) override {
    if (!kinds_[kContext]) return;
    Context record{};
    record.kind = kContext;
    record.context = context;
    record.device = device;
    record.api = number("FAKE_CUDA_MPS") != 0 ? 2 : 1;  // CUpti_ActivityComputeApiKind
    record.null_stream = 7;
    record.multiprocessors = 132;
    write(thread_lane(), record);
  }
  void created_stream(std::uint32_t context, std::uint32_t stream, std::int32_t priority) override {
    if (!kinds_[kStream]) return;
    write(thread_lane(), Stream{kStream, context, stream, static_cast<std::uint32_t>(priority), 2, 0});
  }

 private:
  struct Finished {
    std::uint64_t visible;
    Work work;
  };
  static bool later(const Finished& a, const Finished& b) { return a.visible > b.visible; }
  struct External {
    std::map<std::uint32_t, std::vector<std::uint64_t>> stacks;
  };
  External& external() {
    thread_local std::map<const Cupti*, External> of_client;
    return of_client[this];
  }

  std::unique_lock<std::shared_mutex> without_callbacks() {
    std::unique_lock<std::shared_mutex> lock(callback_lock_, std::defer_lock);
    if (callbacks_lock_) lock.lock();
    return lock;
  }
  std::unique_lock<std::shared_mutex> without_calls() {
    std::unique_lock<std::shared_mutex> lock(calls_lock_, std::defer_lock);
    if (blocks_) lock.lock();
    return lock;
  }
  static void first_enabled(std::uint64_t at) {
    std::uint64_t never = 0;
    first_enable.compare_exchange_strong(never, at);
  }
  void watch() {
    observe();
    if (!worker_started_.exchange(true)) std::thread([this] { work(); }).detach();
  }
  bool wants_call(const fake::ApiInfo& info) {
    const bool runtime = info.domain == fake::Domain::kRuntime;
    if (!kinds_[runtime ? kRuntime : kDriver]) return false;
    if (runtime ? all_runtime_ : all_driver_) return true;
    const std::lock_guard lock(kinds_lock_);
    return (runtime ? single_runtime_ : single_driver_).count(info.callback_id) != 0;
  }
  bool wants_callback(const fake::ApiInfo& info) {
    if (!subscribed_) return false;
    const std::lock_guard lock(kinds_lock_);
    const auto domain = static_cast<std::uint32_t>(info.domain);
    return domains_.count(domain) != 0 || callbacks_.count({domain, info.callback_id}) != 0;
  }
  void call_back(CallState& call, std::uint32_t site) {
    const Subscriber subscriber = mine_;
    if (!subscriber.callback || !subscribed_) return;
    std::shared_lock<std::shared_mutex> running(callback_lock_, std::defer_lock);
    if (callbacks_lock_) running.lock();
    CallbackData data{};
    data.site = site;
    data.function_name = call.info->name;
    data.parameters = call.parameters;
    data.return_value = &call.result;
    data.symbol = call.symbol;
    data.context_id = 1;
    data.user_data = &call.user_data;
    data.correlation = call.correlation;
    subscriber.callback(subscriber.user, static_cast<std::uint32_t>(call.info->domain), call.info->callback_id, &data);
  }

  /// A time of the device on the client's clock, counted from a moment that is known on both.
  /// One moment by both clocks: a thread that was put aside between the two reads asks again.
  std::pair<std::uint64_t, std::uint64_t> anchor() const {
    constexpr std::uint64_t kCloseNs = 2000;
    for (int i = 0;; ++i) {
      const std::uint64_t before = realtime(), at = now(), after = realtime();
      if (after - before < kCloseNs || i == 20) return {at, before + (after - before) / 2};
    }
  }
  void anchor(Work& work) const { std::tie(work.anchor, work.anchor_realtime) = anchor(); }

  /// A device has one clock: what follows on a stream does not begin before the end of what was before it because
  /// the two were brought to the client's clock at different moments.
  void keep_order(const Work& work, std::uint64_t& start, std::uint64_t& end) {
    const std::lock_guard lock(order_lock_);
    Last& last = last_of_stream_[{work.context, work.stream}];
    if (work.start >= last.end && start < last.client_end) {
      end += last.client_end - start;
      start = last.client_end;
    }
    last = {work.end, end};
  }

  std::uint64_t device_time(std::uint64_t time, std::uint64_t at, std::uint64_t at_realtime) const {
    if (!timestamp_) return time;
    const auto ticks = static_cast<double>(at - clock_anchor_);
    const auto ns = static_cast<double>(std::max<std::uint64_t>(at_realtime - realtime_anchor_, 1));
    const auto distance = static_cast<double>(static_cast<std::int64_t>(time - at_realtime));
    return at + static_cast<std::uint64_t>(static_cast<std::int64_t>(distance * (ticks / ns)));
  }

  // ---- buffers ----

  Lane& new_lane() {
    const std::lock_guard lock(lanes_lock_);
    return *lanes_.emplace_back(std::make_unique<Lane>());
  }
  Lane& thread_lane() {
    if (!per_thread_) return shared_lane_;
    thread_local std::map<const Cupti*, Lane*> own;
    Lane*& lane = own[this];
    if (lane == nullptr) lane = &new_lane();
    return *lane;
  }
  Lane& device_lane() { return device_lane_; }

  /// Where the record now lies; no buffer: it was dropped. `incomplete`: it is written again when the work has ended.
  template <typename Record>
  Reserved write(Lane& lane, const Record& record, bool incomplete = false) {
    const std::size_t bytes = record_bytes(record.kind, kSizes);
    const std::lock_guard lock(lane.lock);
    if (lane.buffer->data && (lane.buffer->used + bytes > lane.buffer->size ||
                              (lane.buffer->maximum && lane.buffer->records == lane.buffer->maximum))) {
      {
        const std::lock_guard full_lock(full_lock_);
        full_.push_back(std::exchange(lane.buffer, std::make_shared<Buffer>()));
      }
      worker_wake_.notify_one();
    }
    Buffer& buffer = *lane.buffer;
    if (!buffer.data) {
      if (!request_) return {};
      counters_.requested++;
      request_(&buffer.data, &buffer.size, &buffer.maximum);
      if ((!buffer.data || buffer.size < bytes) && FAKE_CUPTI_VERSION >= 27) {
        lane.buffer = std::make_shared<Buffer>();
        counters_.dropped++;
        all_dropped_++;
        return {};
      }
      const std::lock_guard requested_lock(requested_lock_);
      if (!requested_.insert(buffer.data).second) counters_.shared++;
    }
    // What a reader of a newer layout would see behind a record of an older one.
    std::memset(buffer.data + buffer.used, 0xEE, bytes);
    std::memcpy(buffer.data + buffer.used, &record, std::min(bytes, sizeof record));
    const Reserved place{lane.buffer, buffer.used};
    buffer.used += bytes;
    buffer.records++;
    if (incomplete) {
      const std::lock_guard guard(buffer.lock);
      buffer.incomplete++;
    }
    counters_.records[record.kind]++;
    return place;
  }

  void hand_over(const Buffer& buffer) {
    if (complete_) {
      counters_.completed++;
      {
        const std::lock_guard requested_lock(requested_lock_);
        requested_.erase(buffer.data);
      }
      complete_(nullptr, 0, buffer.data, buffer.size, buffer.used);
    }
  }
  /// What the worker has taken is handed over when a flush returns: its caller may let go of CUPTI then.
  void wait_for_worker() {
    while (handing_over_) sched_yield();
  }
  void hand_over_full(bool forced) {
    for (;;) {
      SharedBuffer buffer;
      {
        const std::lock_guard lock(full_lock_);
        const auto complete = std::find_if(full_.begin(), full_.end(),
                                           [forced](const SharedBuffer& one) { return one->give_back(forced); });
        if (complete == full_.end()) return;
        buffer = *complete;
        full_.erase(complete);
        ++handing_over_;
      }
      hand_over(*buffer);
      --handing_over_;
    }
  }
  [[noreturn]] void work() {
    pthread_setname_np(pthread_self(), "fake-cupti");
    for (;;) {
      {
        std::unique_lock lock(finished_lock_);
        worker_wake_.wait_for(lock, std::chrono::milliseconds(finished_.empty() ? 100 : 1));
      }
      take_finished(false);
      hand_over_full(false);
    }
  }

  /// Completes the records of the device work that has ended. Where nothing was reserved they are written now; with
  /// `all` also those of what is still running, without times.
  void take_finished(bool all) {
    const std::lock_guard order(take_lock_);
    const std::uint64_t time = realtime();
    std::vector<Finished> taken;
    {
      const std::lock_guard lock(finished_lock_);
      while (!finished_.empty() && ((all && !reserves_) || finished_.front().visible <= time)) {
        std::pop_heap(finished_.begin(), finished_.end(), later);
        taken.push_back(std::move(finished_.back()));
        finished_.pop_back();
      }
    }
    if (shuffle_) std::shuffle(taken.begin(), taken.end(), random_);
    for (Finished& one : taken) write_work(one.work, one.work.end <= time);
  }

  static bool fault(std::uint64_t every, std::uint64_t number) { return every != 0 && number % every == 0; }

  /// On the thread that launches: the record as it is before its work has ended.
  void reserve(Work& work) {
    const std::uint64_t number = ++device_records_;
    if (drops(number)) return;
    Lane& lane = per_thread_ ? thread_lane() : device_lane();
    const Reserved place = put(lane, work, {0, 0}, correlation_of(work, number), true);
    if (place.buffer) work.record = std::make_shared<Unfinished>(Unfinished{place, number});
  }
  struct Times {
    std::uint64_t start, end;
  };
  struct Unfinished {
    Reserved place;
    std::uint64_t number;
  };

  void write_work(const Work& work, bool complete) {
    if (work.record) {
      const auto& unfinished = *static_cast<const Unfinished*>(work.record.get());
      return finish_record(work, unfinished.place, times_of(work, unfinished.number));
    }
    if (reserves_) return;  // dropped at its launch
    const std::uint64_t number = ++device_records_;
    if (drops(number)) return;
    put(device_lane(), work, complete ? times_of(work, number) : Times{0, 0}, correlation_of(work, number), false);
  }
  void finish_record(const Work& work, const Reserved& place, Times times) {
    Buffer& buffer = *place.buffer;
    const std::lock_guard guard(buffer.lock);
    if (buffer.returned) return;
    --buffer.incomplete;
    std::uint8_t* const at = buffer.data + place.offset;
    const auto set = [at]<typename Record>(Record record, Times t) {
      std::memcpy(&record, at, std::min(sizeof record, record_bytes(record_kind(at), kSizes)));
      record.start = t.start;
      record.end = t.end;
      if constexpr (requires { record.completed; }) record.completed = t.end;
      std::memcpy(at, &record, std::min(sizeof record, record_bytes(record_kind(at), kSizes)));
    };
    switch (work.kind) {
      case WorkKind::kKernel:
        return set(Kernel{}, times);
      case WorkKind::kCopy:
        return set(Memcpy{}, times);
      case WorkKind::kPeerCopy:
        return set(MemcpyPeer{}, times);
      case WorkKind::kSet:
        return set(Memset{}, times);
      case WorkKind::kGraph:
        return set(GraphTrace{}, times);
    }
  }
  static std::uint32_t record_kind(const std::uint8_t* record) {
    std::uint32_t kind = 0;
    std::memcpy(&kind, record, sizeof kind);
    return kind;
  }

  bool drops(std::uint64_t number) {
    if (!fault(drop_, number)) return false;
    counters_.dropped++;
    all_dropped_++;
    return true;
  }
  std::uint32_t correlation_of(const Work& work, std::uint64_t number) const {
    if (graph_sessions_ && sessions_ > 1 && work.graph != 0 && last_graph_ != 0) return last_graph_;
    return fault(unknown_, number) ? 0x40000000u + work.correlation : work.correlation;
  }
  Times times_of(const Work& work, std::uint64_t number) {
    if (spoiled_ > 0) {
      --spoiled_;
      const std::uint64_t apart = head_clock_ == 2 ? realtime() - monotonic() : 0;
      return {work.start - apart, work.end - apart};
    }
    std::uint64_t start = device_time(work.start, work.anchor, work.anchor_realtime);
    std::uint64_t end = device_time(work.end, work.anchor, work.anchor_realtime);
    if (pool_ != 0 && work.graph != 0) {
      const std::uint64_t kernels = ++graph_kernels_;
      if (kernels > pool_) return kernels == pool_ + 1 ? Times{end, start} : Times{0, 0};
    }
    if (work.kind != WorkKind::kGraph) keep_order(work, start, end);
    if (fault(zero_time_, number)) start = end = 0;
    if (fault(backward_, number)) std::swap(start, end);
    if (fault(far_, number)) {
      start = device_time(work.start - 3600000000000ull, work.anchor, work.anchor_realtime);
      end = start + 1000;
    }
    return {start, end};
  }
  Reserved put(Lane& lane, const Work& work, Times times, std::uint32_t correlation, bool incomplete) {
    switch (work.kind) {
      case WorkKind::kKernel:
        return write(lane, kernel_record(work, times, correlation), incomplete);
      case WorkKind::kCopy:
        return write(lane, copy_record(work, times, correlation), incomplete);
      case WorkKind::kPeerCopy:
        return write(lane, peer_record(work, times, correlation), incomplete);
      case WorkKind::kSet:
        return write(lane, set_record(work, times, correlation), incomplete);
      case WorkKind::kGraph:
        return write(lane, graph_record(work, times, correlation), incomplete);
    }
    return {};
  }
  /// What the records of all kinds of device work have, as far as this one has it.
  template <typename Record>
  static Record record_of(std::uint32_t kind, const Work& work, Times times, std::uint32_t correlation) {
    Record record{};
    record.kind = kind;
    record.start = times.start;
    record.end = times.end;
    record.device = work.device;
    record.context = work.context;
    record.stream = work.stream;
    record.correlation = correlation;
    record.graph = work.graph;
    if constexpr (requires { record.graph_node; }) record.graph_node = work.graph_node;
    if constexpr (requires { record.bytes; }) record.bytes = work.bytes;
    if constexpr (requires { record.flags; }) record.flags = work.is_async ? 1 : 0;
    return record;
  }
  template <typename Record>
  static void set_memory(Record& record, const Work& work) {
    record.copy_kind = static_cast<std::uint8_t>(work.copy);
    record.source = static_cast<std::uint8_t>(work.source);
    record.target = static_cast<std::uint8_t>(work.target);
    record.channel_type = 2;
  }
  Kernel kernel_record(const Work& work, Times times, std::uint32_t correlation) const {
    auto record =
        record_of<Kernel>(kinds_[kKernel] ? fake::cupti::kKernel : kConcurrentKernel, work, times, correlation);
    record.registers_per_thread = 16;
    record.completed = times.end;
    const unsigned grid[] = {work.grid.x, work.grid.y, work.grid.z},
                   block[] = {work.block.x, work.block.y, work.block.z};
    for (const int i : {0, 1, 2}) {
      record.grid[i] = static_cast<std::int32_t>(grid[i]);
      record.block[i] = static_cast<std::int32_t>(block[i]);
    }
    record.dynamic_shared = static_cast<std::int32_t>(work.shared_bytes);
    record.grid_id = static_cast<std::int64_t>(work.grid_id);
    record.name = work.name;
    record.channel = work.stream;
    record.channel_type = 1;
    return record;
  }
  Memcpy copy_record(const Work& work, Times times, std::uint32_t correlation) const {
    auto record = record_of<Memcpy>(kMemcpy, work, times, correlation);
    set_memory(record, work);
    record.copy_count = 1;
    return record;
  }
  MemcpyPeer peer_record(const Work& work, Times times, std::uint32_t correlation) const {
    auto record = record_of<MemcpyPeer>(kMemcpyPeer, work, times, correlation);
    set_memory(record, work);
    record.from_device = work.from_device;
    record.from_context = work.from_device + 1;
    record.to_device = work.to_device;
    record.to_context = work.to_device + 1;
    return record;
  }
  Memset set_record(const Work& work, Times times, std::uint32_t correlation) const {
    auto record = record_of<Memset>(kMemset, work, times, correlation);
    record.value = work.value;
    record.memory_kind = static_cast<std::uint16_t>(work.target);
    record.channel_type = 1;
    return record;
  }
  GraphTrace graph_record(const Work& work, Times times, std::uint32_t correlation) const {
    auto record = record_of<GraphTrace>(kGraphTrace, work, times, correlation);
    record.end_device = work.device;
    record.end_context = work.context;
    return record;
  }
  void overhead(std::uint32_t kind, std::uint64_t start, std::uint64_t end, std::uint32_t correlation) {
    Overhead record{};
    record.kind = kOverhead;
    record.overhead_kind = kind;
    record.object_kind = 2;  // thread
    record.object[0] = static_cast<std::uint32_t>(getpid());
    record.object[1] = static_cast<std::uint32_t>(pthread_self());
    record.start = start;
    record.end = end;
    record.correlation = correlation;
    write(thread_lane(), record);
  }
  void tell_devices(fake::Device& device) {
    for (int i = 0; i < device.device_count(); ++i) {
      fake::cupti::Device record{};
      record.kind = fake::cupti::kDevice;
      record.bandwidth = 3352000000;
      record.memory_bytes = 80ull << 30;
      record.l2_bytes = 50u << 20;
      record.warp = 32;
      record.clock_khz = 1980000;
      record.copy_engines = 3;
      record.multiprocessors = 132;
      record.warps_per_sm = 64;
      record.blocks_per_sm = 32;
      record.shared_per_sm = 228u << 10;
      record.registers_per_sm = 65536;
      record.registers_per_block = 65536;
      record.shared_per_block = 48u << 10;
      record.threads_per_block = 1024;
      record.major = 9;
      record.id = static_cast<std::uint32_t>(i);
      record.uuid[0] = static_cast<std::uint8_t>(i + 1);
      record.name = "Fake GPU";
      record.visible = 1;
      record.gpu_instance = record.compute_instance = ~0u;
      if (number("FAKE_CUDA_MIG") != 0) {
        record.name = "Fake GPU MIG 1g.10gb";
        record.multiprocessors = 14;
        record.mig = 1;
        record.gpu_instance = static_cast<std::uint32_t>(7 + i);
        record.compute_instance = 0;
        for (int byte = 0; byte < 16; ++byte) record.mig_uuid[byte] = static_cast<std::uint8_t>(16 * (i + 1) + byte);
      }
      write(thread_lane(), record);
    }
  }

  const std::uint64_t drop_ = number("FAKE_CUPTI_DROP"), zero_time_ = number("FAKE_CUPTI_ZERO_TIME"),
                      backward_ = number("FAKE_CUPTI_BACKWARD"), far_ = number("FAKE_CUPTI_FAR"),
                      unknown_ = number("FAKE_CUPTI_UNKNOWN"), late_ns_ = number("FAKE_CUPTI_LATE_MS") * 1000000,
                      slow_flush_ms_ = number("FAKE_CUPTI_SLOW_FLUSH_MS"),
                      slow_enable_ms_ = number("FAKE_CUPTI_SLOW_ENABLE_MS");
  const std::uint64_t disable_hangs_ms_ = number("FAKE_CUPTI_DISABLE_HANGS_MS"),
                      cost_ns_ = number("FAKE_CUPTI_COST_NS"), pool_ = number("FAKE_CUPTI_POOL");
  const bool old_graphs_ = number("FAKE_CUPTI_OLD_GRAPHS") != 0,
             graph_sessions_ = number("FAKE_CUPTI_GRAPH_SESSIONS") != 0, blocks_ = number("FAKE_CUPTI_BLOCKS") != 0;
  std::shared_mutex calls_lock_;
  std::atomic<int> sessions_{0};
  const bool is_subscriber_;
  const std::uint64_t head_clock_ = number("FAKE_CUPTI_HEAD_KERNEL");
  std::atomic<int> registered_again_{0}, spoiled_{0};
  std::atomic<std::uint64_t> graph_kernels_{0};
  std::uint32_t this_graph_ = 0, last_graph_ = 0;  // under the simulator's lock
  const bool callbacks_lock_ = number("FAKE_CUPTI_CALLBACK_LOCK") != 0;
  std::shared_mutex callback_lock_;
  const bool shuffle_ = number("FAKE_CUPTI_SHUFFLE") != 0;
  const bool reserves_ = !shuffle_ && number("FAKE_CUPTI_RESERVE", 1) != 0;
  const bool nested_ = number("FAKE_CUPTI_NESTED", 1) != 0;
  // Registered while nothing is on.
  std::function<void(std::uint8_t**, std::size_t*, std::size_t*)> request_;
  std::function<void(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t)> complete_;
  std::atomic<bool> taken_{false};
  std::atomic<Timestamp> timestamp_{nullptr};
  struct Last {
    std::uint64_t end = 0, client_end = 0;
  };
  std::mutex order_lock_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Last> last_of_stream_;
  std::uint64_t clock_anchor_ = 0, realtime_anchor_ = 0;

  std::mutex kinds_lock_;
  std::atomic<bool> kinds_[kKinds] = {};
  std::atomic<bool> all_runtime_{false}, all_driver_{false};
  std::set<std::uint32_t> single_runtime_, single_driver_;

  Subscriber mine_;
  std::atomic<bool> subscribed_{false};
  std::set<std::pair<std::uint32_t, std::uint32_t>> callbacks_;
  std::set<std::uint32_t> domains_;

  std::atomic<bool> per_thread_{FAKE_CUPTI_VERSION >= 130000 || number("FAKE_CUPTI_PER_THREAD") != 0},
      system_thread_ids_{false};
  std::mutex lanes_lock_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  Lane &shared_lane_ = new_lane(), &device_lane_ = new_lane();
  std::mutex requested_lock_;
  std::set<const std::uint8_t*> requested_;  // and not handed over yet
  std::mutex full_lock_;
  std::deque<SharedBuffer> full_;
  std::atomic<int> handing_over_{0};

  std::mutex take_lock_, finished_lock_;
  std::condition_variable worker_wake_;
  std::vector<Finished> finished_;  // heap, the first to become visible on top
  std::atomic<std::uint64_t> device_records_{0};
  std::mt19937 random_{1};
  std::atomic<bool> worker_started_{false};

  Counters counters_;
  std::atomic<std::uint64_t> all_dropped_{0};
};

#ifdef FAKE_CUPTI_STATIC
constexpr bool kIsStatic = true;
#else
constexpr bool kIsStatic = false;
#endif
constexpr bool kHasSubscribers = FAKE_CUPTI_VERSION >= 130300;

/// Fans out to the clients; each keeps its own notes in calls and work.
class Clients final : public fake::Observer {
 public:
  Clients() {
    if (const std::string name = fake::path("FAKE_CUPTI_LOG"); !kIsStatic && !name.empty())
      log_ = std::fopen(name.c_str(), "we");
    if (number("FAKE_CUPTI_SUBSCRIBED")) alone_ = this;
  }

  Cupti& process() { return *clients_[0]; }
  /// Null: there is no such subscriber.
  Cupti* subscriber(void* handle) {
    const std::lock_guard lock(lock_);
    for (std::size_t i = 1; i < count_; ++i) {
      if (clients_[i].get() == handle && subscribed_.count(handle) != 0) return clients_[i].get();
    }
    return handle != nullptr && handle == alone_ && handle != this ? &process() : nullptr;
  }

  /// A result other than kOk: the function fails.
  int start(const char* function) {
    const int result = static_cast<int>(fake::lookup(fake::text("FAKE_CUPTI_FAIL"), function, kOk));
    if (result == kOk && !can_initialise()) return kNotInitialised;
    // CUPTI of a newer CUDA than the driver's: seen with CUPTI 13.0 on libcuda 550.
    constexpr int kMajor = FAKE_CUPTI_VERSION >= 130000 ? 13 : FAKE_CUPTI_VERSION >= 22 ? 12 : 11;
    if (result == kOk && fake::device_or_null()->driver_version() / 1000 < kMajor) return kUnknown;
    const bool takes_driver = std::strstr(function, "Subscribe") || std::strstr(function, "ActivityEnable");
    if (result == kOk && takes_driver && !fake::device_or_null()->take_driver(this)) return kSeveralSubscribers;
    return result;
  }
  static bool can_initialise() {
    fake::Device* const device = fake::device_or_null();
    return device != nullptr && device->is_up();
  }
  int use(int scope) {
    if (!kHasSubscribers) return kOk;
    int free = 0;
    return scope_.compare_exchange_strong(free, scope) || free == scope ? kOk : kNotCompatible;
  }
  void log(const char* function, std::uint64_t first = 0, std::uint64_t second = 0) {
    if (!log_) return;
    std::fprintf(log_, "%llu %s %llu %llu\n", static_cast<unsigned long long>(realtime()), function,
                 static_cast<unsigned long long>(first), static_cast<unsigned long long>(second));
    std::fflush(log_);
  }

  int subscribe(void** handle, Callback callback, void* user, bool shares) {
    const std::lock_guard lock(lock_);
    if (alone_ != nullptr || (!subscribed_.empty() && (!shares || !several_))) return kSeveralSubscribers;
    if (!shares) {
      alone_ = &process();
      process().subscribe(callback, user);
    } else {
      if (count_ == kMost) return kSeveralSubscribers;
      clients_[count_] = std::make_unique<Cupti>(true);
      clients_[count_]->subscribe(callback, user);
      subscribed_.insert(clients_[count_].get());
      ++count_;
    }
    *handle = shares ? static_cast<void*>(clients_[count_ - 1].get()) : alone_;
    return kOk;
  }
  int unsubscribe(void* handle) {
    Cupti* const client = subscriber(handle);
    if (client == nullptr) return kInvalidParameter;
    client->unsubscribe();
    if (client != &process()) client->all_off();
    if (client != &process() && !kHasSubscribers) process().taken(nullptr, nullptr);
    const std::lock_guard lock(lock_);
    if (handle == alone_) alone_ = nullptr;
    subscribed_.erase(handle);
    if (alone_ == nullptr && subscribed_.empty()) scope_ = 0;
    return kOk;
  }
  int flush(bool forced) {
    int result = kInvalidOperation;
    for (std::size_t i = 0; i < count_; ++i) {
      if (const int one = clients_[i]->flush(forced); one == kOk) result = kOk;
    }
    return result;
  }
  int finalize() {
    for (std::size_t i = 0; i < count_; ++i) clients_[i]->finalize();
    fake::device_or_null()->set_observer(nullptr);
    fake::device_or_null()->let_driver_go(this);
    const std::lock_guard lock(lock_);
    alone_ = nullptr;
    subscribed_.clear();
    scope_ = 0;
    return kOk;
  }

  /// Counters and leftovers, for the test, at the end of the process.
  void write_state() {
    const std::string name = fake::path("FAKE_CUPTI_STATE");
    std::FILE* file = kIsStatic || name.empty() ? nullptr : std::fopen(name.c_str(), "we");
    if (!file) return;
    Cupti::State state;
    for (std::size_t i = 0; i < count_; ++i) clients_[i]->add_to(state);
    const auto line = [file](const std::string& what, std::uint64_t value) {
      std::fprintf(file, "%s %llu\n", what.c_str(), static_cast<unsigned long long>(value));
    };
    line("requested", state.requested);
    line("completed", state.completed);
    line("dropped", state.dropped);
    line("shared_buffers", state.shared);
    line("subscribed", state.subscribed ? 1 : 0);
    line("scope", static_cast<std::uint64_t>(scope_.load()));
    for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
      if (state.enabled[kind]) line("enabled", kind);
      if (state.records[kind]) line("records_" + std::to_string(kind), state.records[kind]);
    }
    std::fclose(file);
  }

  // ---- what the simulator tells ----

  void enter(CallState& call) override {
    each([&](Cupti& client, std::size_t i) {
      client.enter(call);
      call.kept[i] = {call.begin, call.user_data, call.wanted};
    });
  }
  void exit(CallState& call) override {
    each([&](Cupti& client, std::size_t i) {
      if (!call.kept[i]) return;  // it came while the call ran
      std::tie(call.begin, call.user_data, call.wanted) = *call.kept[i];
      client.exit(call);
    });
  }
  void submitted(Work& work) override {
    each([&](Cupti& client, std::size_t i) {
      work.record = nullptr;
      client.submitted(work);
      work.kept[i] = {work.anchor, work.anchor_realtime, work.wanted, work.record};
    });
  }
  void finished(const Work& work) override {
    each([&](Cupti& client, std::size_t i) {
      if (!work.kept[i]) return;
      Work of_client = work;
      std::tie(of_client.anchor, of_client.anchor_realtime, of_client.wanted, of_client.record) = *work.kept[i];
      client.finished(of_client);
    });
  }
  void synchronised(fake::SyncKind kind, std::uint32_t correlation, std::uint32_t context, std::uint32_t stream,
                    std::uint32_t event, std::uint64_t start, std::uint64_t end) override {
    each([&](Cupti& c, std::size_t) { c.synchronised(kind, correlation, context, stream, event, start, end); });
  }
  void recorded_event(std::uint32_t correlation, std::uint32_t context, std::uint32_t stream,
                      std::uint32_t event) override {
    each([&](Cupti& c, std::size_t) { c.recorded_event(correlation, context, stream, event); });
  }
  void memory(bool allocated, fake::MemoryKind kind, std::uint32_t device, std::uint32_t context,
              std::uint32_t correlation, const void* address, std::uint64_t bytes) override {
    each([&](Cupti& c, std::size_t) { c.memory(allocated, kind, device, context, correlation, address, bytes); });
  }
  void first_launch(const char* kernel, std::uint32_t correlation) override {
    each([&](Cupti& c, std::size_t) { c.first_launch(kernel, correlation); });
  }
  void driver_initialised() override {
    each([](Cupti& c, std::size_t) { c.driver_initialised(); });
  }
  void created_context(std::uint32_t device, std::uint32_t context) override {
    each([&](Cupti& c, std::size_t) { c.created_context(device, context); });
  }
  void created_stream(std::uint32_t context, std::uint32_t stream, std::int32_t priority) override {
    each([&](Cupti& c, std::size_t) { c.created_stream(context, stream, priority); });
  }

 private:
  static constexpr std::size_t kMost = fake::kMostObservers;
  template <class Visit>
  void each(const Visit& visit) {
    const std::size_t count = count_;
    for (std::size_t i = 0; i < count; ++i) visit(*clients_[i], i);
  }

  std::FILE* log_ = nullptr;
  // "Drivers older than r610: a single subscriber" (CUPTI's documentation of 13.3).
  const bool several_ = fake::device_or_null() == nullptr || fake::device_or_null()->driver_version() >= 13030 ||
                        FAKE_CUPTI_VERSION < 130300;
  std::mutex lock_;
  std::array<std::unique_ptr<Cupti>, kMost> clients_{std::make_unique<Cupti>()};
  std::atomic<std::size_t> count_{1};  // none goes: work of one that has left may still run
  std::set<void*> subscribed_;         // that share
  void* alone_ = nullptr;
  std::atomic<int> scope_{0};  // whose functions of the activity API are in use: 0 = nobody's, 1 = the process's,
                               // 2 = a subscriber's
};

/// Never torn down: threads of the job may launch while it ends.
Clients& clients() {
  static auto* const instance = new Clients;
  return *instance;
}

void observe() { fake::device_or_null()->set_observer(&clients()); }

__attribute__((destructor)) void at_end() { clients().write_state(); }

/// For cuptiGetCallbackName. All names, without gaps, as a client expects that asks for one after the other.
struct CallbackName {
  std::uint32_t domain, callback_id;
  const char* name;
};
constexpr CallbackName kNames[] = {
#include "fakes/cupti_names.inc"
};

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))
#define START(...)                                    \
  clients().log(__func__ __VA_OPT__(, ) __VA_ARGS__); \
  if (const int failure = clients().start(__func__); failure != kOk) return failure
/// For functions of the activity API of the process.
#define OF_PROCESS(...) \
  START(__VA_ARGS__);   \
  if (const int failure = clients().use(1); failure != kOk) return failure

EXPORT int cuptiGetVersion(std::uint32_t* version) {
  clients().log(__func__);
  if (number("FAKE_CUPTI_RECURSES") && !Clients::can_initialise()) std::raise(SIGSEGV);
  *version = FAKE_CUPTI_VERSION;
  return kOk;
}
EXPORT int cuptiGetTimestamp(std::uint64_t* timestamp) {
  *timestamp = clients().process().now();
  return kOk;
}
EXPORT int cuptiGetResultString(int result, const char** text) {
  *text = result == kOk ? "CUPTI_SUCCESS" : "an error of the fake CUPTI";
  return kOk;
}
EXPORT int cuptiGetErrorMessage(int result, const char** text) { return cuptiGetResultString(result, text); }
EXPORT int cuptiGetCallbackName(std::uint32_t domain, std::uint32_t callback_id, const char** name) {
  for (const CallbackName& one : kNames) {
    if (one.domain != domain || one.callback_id != callback_id) continue;
    *name = one.name;
    return kOk;
  }
  return kInvalidParameter;
}
EXPORT int cuptiActivityRegisterCallbacks(RequestBuffer request, CompleteBuffer complete) {
  OF_PROCESS();
  return clients().process().register_callbacks(request, complete);
}
EXPORT int cuptiActivityRegisterTimestampCallback(Timestamp timestamp) {
  OF_PROCESS();
  return clients().process().register_timestamp(timestamp);
}
EXPORT int cuptiActivitySetAttribute(std::uint32_t attribute, std::size_t* size, void* value) {
  OF_PROCESS(attribute);
  if (!size || !value || attribute > 9) return kInvalidParameter;
  if (attribute == 9) clients().process().per_thread(*static_cast<std::uint8_t*>(value) != 0);
  return kOk;
}
EXPORT int cuptiActivityEnable(std::uint32_t kind) {
  OF_PROCESS(kind);
  return clients().process().enable(kind, true, false);
}
EXPORT int cuptiActivityEnableAndDump(std::uint32_t kind) {
  OF_PROCESS(kind);
  return clients().process().enable(kind, true, true);
}
EXPORT int cuptiActivityDisable(std::uint32_t kind) {
  OF_PROCESS(kind);
  return clients().process().enable(kind, false, false);
}
// Absent before 12.5: the version scripts hide them.
EXPORT int cuptiActivityEnableRuntimeApi(std::uint32_t callback_id, std::uint8_t on) {
  OF_PROCESS(callback_id, on);
  return clients().process().enable_call(fake::Domain::kRuntime, callback_id, on != 0);
}
EXPORT int cuptiActivityEnableDriverApi(std::uint32_t callback_id, std::uint8_t on) {
  OF_PROCESS(callback_id, on);
  return clients().process().enable_call(fake::Domain::kDriver, callback_id, on != 0);
}
EXPORT int cuptiActivityEnableLatencyTimestamps(std::uint8_t on) {
  OF_PROCESS(on);
  return kOk;
}
EXPORT int cuptiActivityFlushAll(std::uint32_t flag) {
  START(flag);
  return clients().flush((flag & 1) != 0);
}
EXPORT int cuptiActivityFlushPeriod(std::uint32_t milliseconds) {
  START(milliseconds);
  return kOk;
}
static int next_record(std::uint8_t* buffer, std::size_t valid_size, std::uint8_t** record) {
  std::uint8_t* next = buffer;
  if (*record) {
    std::uint32_t kind;
    std::memcpy(&kind, *record, sizeof kind);
    next = *record + record_bytes(kind, kSizes);
  }
  if (valid_size == 0 || next >= buffer + valid_size) return kMaximumReached;
  std::uint32_t kind;
  std::memcpy(&kind, next, sizeof kind);
  if (record_bytes(kind, kSizes) == 0) return kInvalidKind;
  *record = next;
  return kOk;
}
EXPORT int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_size, std::uint8_t** record) {
  if (const int failure = clients().use(1); failure != kOk) return failure;
  return next_record(buffer, valid_size, record);
}
EXPORT int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  OF_PROCESS();
  *dropped = clients().process().dropped();
  return kOk;
}
EXPORT int cuptiActivityPushExternalCorrelationId(std::uint32_t kind, std::uint64_t id) {
  if (const int failure = clients().start(__func__); failure != kOk) return failure;
  if (const int failure = clients().use(1); failure != kOk) return failure;
  return clients().process().push_external(kind, id);
}
EXPORT int cuptiActivityPopExternalCorrelationId(std::uint32_t kind, std::uint64_t* last) {
  if (const int failure = clients().start(__func__); failure != kOk) return failure;
  if (const int failure = clients().use(1); failure != kOk) return failure;
  return clients().process().pop_external(kind, last);
}
EXPORT int cuptiSubscribe(void** subscriber, Callback callback, void* user) {
  START();
  const int result = clients().subscribe(subscriber, callback, user, false);
  return result != kOk && FAKE_CUPTI_VERSION < 18 ? kMaximumReached : result;
}
EXPORT int cuptiUnsubscribe(void* subscriber) {
  START();
  return clients().unsubscribe(subscriber);
}
EXPORT int cuptiEnableCallback(std::uint32_t on, void* subscriber, std::uint32_t domain, std::uint32_t callback_id) {
  START(domain, callback_id);
  Cupti* const client = clients().subscriber(subscriber);
  return client != nullptr ? client->enable_callback(on != 0, domain, callback_id) : kInvalidParameter;
}
EXPORT int cuptiEnableDomain(std::uint32_t on, void* subscriber, std::uint32_t domain) {
  START(domain, on);
  Cupti* const client = clients().subscriber(subscriber);
  return client != nullptr ? client->enable_domain(on != 0, domain) : kInvalidParameter;
}
EXPORT int cuptiSetThreadIdType(std::uint32_t type) {
  OF_PROCESS(type);
  clients().process().thread_id_type(type);
  return kOk;
}
EXPORT int cuptiFinalize() {
  START();
  return clients().finalize();
}

// ---- 13.3: the functions of a subscriber. Absent before: the version scripts hide them.

#define OF_SUBSCRIBER(...)                                \
  START(__VA_ARGS__);                                     \
  Cupti* const client = clients().subscriber(subscriber); \
  if (client == nullptr) return kInvalidParameter;        \
  if (const int failure = clients().use(2); failure != kOk) return failure

namespace {
struct SubscriberParameters {  // CUpti_SubscriberParams
  std::size_t size;
  const char* name;
  char* old_name;
  std::size_t old_name_size;
  std::uint8_t allow_multiple, padding[7];
};
/// CUpti_ActivityConfig begins with its size. What lies there is read, so a pointer of chance shows itself.
bool is_config(const void* config) {
  std::size_t size = 0;
  if (config != nullptr) std::memcpy(&size, config, sizeof size);
  return config == nullptr || (size >= sizeof size && size <= 4096);
}
}  // namespace

EXPORT int cuptiSubscribe_v2(void** subscriber, Callback callback, void* user, SubscriberParameters* parameters) {
  START();
  if (parameters != nullptr && parameters->size != sizeof *parameters) return kInvalidParameter;
  return clients().subscribe(subscriber, callback, user, parameters != nullptr && parameters->allow_multiple != 0);
}
EXPORT int cuptiActivityRegisterCallbacks_v2(void* subscriber, RequestOfSubscriber request,
                                             CompleteOfSubscriber complete) {
  OF_SUBSCRIBER();
  if (!kHasSubscribers) clients().process().taken(request, complete);
  return client->register_callbacks_v2(request, complete);
}
EXPORT int cuptiActivityEnable_v2(void* subscriber, std::uint32_t kind, void* config) {
  OF_SUBSCRIBER(kind);
  return is_config(config) ? client->enable(kind, true, false) : kInvalidParameter;
}
EXPORT int cuptiActivityEnableAndDump_v2(void* subscriber, std::uint32_t kind, void* config) {
  OF_SUBSCRIBER(kind);
  return is_config(config) ? client->enable(kind, true, true) : kInvalidParameter;
}
EXPORT int cuptiActivityDisable_v2(void* subscriber, std::uint32_t kind, void* config) {
  OF_SUBSCRIBER(kind);
  return is_config(config) ? client->enable(kind, false, false) : kInvalidParameter;
}
EXPORT int cuptiActivityEnableRuntimeApi_v2(void* subscriber, std::uint32_t callback_id, std::uint8_t on) {
  OF_SUBSCRIBER(callback_id, on);
  return client->enable_call(fake::Domain::kRuntime, callback_id, on != 0);
}
EXPORT int cuptiActivityEnableDriverApi_v2(void* subscriber, std::uint32_t callback_id, std::uint8_t on) {
  OF_SUBSCRIBER(callback_id, on);
  return client->enable_call(fake::Domain::kDriver, callback_id, on != 0);
}
EXPORT int cuptiActivityGetNextRecord_v2(void* subscriber, std::uint8_t* buffer, std::size_t valid_size,
                                         std::uint8_t** record) {
  if (clients().subscriber(subscriber) == nullptr) return kInvalidParameter;
  return next_record(buffer, valid_size, record);
}
EXPORT int cuptiActivityGetNumDroppedRecords_v2(void* subscriber, void*, std::uint32_t, std::size_t* dropped) {
  OF_SUBSCRIBER();
  *dropped = client->dropped();
  return kOk;
}
EXPORT int cuptiActivityPushExternalCorrelationId_v2(void* subscriber, std::uint32_t kind, std::uint64_t id) {
  OF_SUBSCRIBER();
  return client->push_external(kind, id);
}
EXPORT int cuptiActivityPopExternalCorrelationId_v2(void* subscriber, std::uint32_t kind, std::uint64_t* last) {
  OF_SUBSCRIBER();
  return client->pop_external(kind, last);
}
