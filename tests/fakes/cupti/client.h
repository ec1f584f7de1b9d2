// One client of the fake CUPTI: the process, or a subscriber (13.2 and later).
//
// Clients follow the notes in cupti_activity.h on the functions and attributes in parentheses:
// - Records go into one buffer per thread (since 13.0), or into one for all calls and one for the device
//   (CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER).
// - The record of a kernel, copy or memset is in its buffer from the launch on, incomplete until the activity ends.
//   cuptiActivityFlushAll(0) and the worker thread return no buffer with an incomplete record. A forced flush returns
//   every buffer, with times of 0 in incomplete records (cuptiActivityFlushAll, cuptiActivityFlushPeriod).
// - Device records are written when the driver is initialized, context and stream records when a context or stream is
//   made. Later, cuptiActivityEnableAndDump writes them.
// - cuptiActivityEnable(RUNTIME or DRIVER) replaces the choice of single calls. Once a context exists, selecting a call
//   while its kind is off has no effect, and deselecting a call while its kind is on has (CUPTI 13.0.1 on an H200:
//   tests/gpu/RESULTS.md, "calls_by_id").
// - If a buffer request returns NULL, releases before 12.9 crash, and later releases drop the record.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "fakes/cupti/api_types.h"
#include "fakes/cupti/buffers.h"
#include "fakes/cupti/clocks.h"
#include "fakes/cupti/options.h"
#include "fakes/cupti/work_records.h"
#include "fakes/libcuda/device.h"

namespace fake::cupti {

/// Bits of CallState::wanted.
enum : std::uint32_t { kWantsApi = 1, kWantsExternal = 2, kWantsCallback = 4 };

/// When an activity kind was first enabled since the start or cuptiFinalize; 0 = never.
extern std::atomic<std::uint64_t> first_enable;

void observe();

struct Counters {
  std::atomic<std::uint64_t> requested{0}, completed{0}, dropped{0}, shared{0}, records[kKinds] = {};
};

/// Contents of the file FAKE_CUPTI_STATE.
struct State {
  std::uint64_t requested = 0, completed = 0, dropped = 0, shared = 0, records[kKinds] = {};
  bool subscribed = false, enabled[kKinds] = {};
};

/// The record of `work` is completed at the time `visible`.
struct Finished {
  std::uint64_t visible;
  Work work;
};

struct External {
  std::map<std::uint32_t, std::vector<std::uint64_t>> stacks;
};

/// End of a stream's last activity, on the device's and the client's clock.
struct LastEnd {
  std::uint64_t end = 0, client_end = 0;
};

class Client final : public fake::Observer {
 public:
  explicit Client(bool is_subscriber = false) : is_subscriber_(is_subscriber) {}

  int register_callbacks(RequestBuffer request, CompleteBuffer complete);
  /// 13.2: a subscriber's buffer callbacks get the process's records. Null: the subscriber has gone.
  void taken(RequestOfSubscriber request, CompleteOfSubscriber complete);
  int register_callbacks_v2(RequestOfSubscriber request, CompleteOfSubscriber complete);
  int register_timestamp(Timestamp timestamp);
  int enable(std::uint32_t kind, bool on, bool dump);
  int enable_call(fake::Domain domain, std::uint32_t callback_id, bool on);
  void subscribe(Callback callback, void* user);
  void unsubscribe();
  int enable_callback(bool on, std::uint32_t domain, std::uint32_t callback_id);
  int enable_domain(bool on, std::uint32_t domain);
  int push_external(std::uint32_t kind, std::uint64_t id);
  int pop_external(std::uint32_t kind, std::uint64_t* last);
  int flush(bool forced);
  void all_off();
  void finalize();
  std::uint64_t dropped() { return counters_.dropped.exchange(0); }
  void per_thread(bool on) { per_thread_ = on; }
  void thread_id_type(std::uint32_t type) { system_thread_ids_ = type == 1; }
  std::uint64_t now() const {
    const Timestamp timestamp = timestamp_;
    return timestamp ? timestamp() : realtime();
  }

  void add_to(State& state) const;

  void enter(CallState& call) override;
  void exit(CallState& call) override;
  void submitted(Work& work) override;
  void driver_initialized() override;
  void finished(const Work& work) override;
  void synchronized(fake::SyncKind kind, std::uint32_t correlation, std::uint32_t context, std::uint32_t stream,
                    std::uint32_t event, std::uint64_t start, std::uint64_t end) override;
  void recorded_event(std::uint32_t correlation, std::uint32_t context, std::uint32_t stream,
                      std::uint32_t event) override;
  void memory(bool allocated, fake::MemoryKind kind, std::uint32_t device, std::uint32_t context,
              std::uint32_t correlation, const void* address, std::uint64_t bytes) override;
  void first_launch(const char*, std::uint32_t correlation) override;
  void created_context(std::uint32_t device, std::uint32_t context) override;
  void created_stream(std::uint32_t context, std::uint32_t stream, std::int32_t priority) override;

 private:
  static bool later(const Finished& a, const Finished& b) { return a.visible > b.visible; }
  External& external();

  std::unique_lock<std::shared_mutex> without_callbacks();
  std::unique_lock<std::shared_mutex> without_calls();
  static void first_enabled(std::uint64_t at);
  void watch();
  bool wants_call(const fake::ApiInfo& info);
  bool wants_callback(const fake::ApiInfo& info);
  void call_back(CallState& call, std::uint32_t site);

  /// Returns the client's and the real-time clock at one moment.
  std::pair<std::uint64_t, std::uint64_t> anchor() const;
  void anchor(Work& work) const;

  /// Delays an activity that would overlap the previous one of its stream: their clock anchors may differ.
  void keep_order(const Work& work, std::uint64_t& start, std::uint64_t& end);

  /// `at` and `at_realtime` are one moment on the client's and the real-time clock.
  std::uint64_t device_time(std::uint64_t time, std::uint64_t at, std::uint64_t at_realtime) const;

  BufferSlot& new_slot();
  BufferSlot& thread_slot();
  BufferSlot& device_slot() { return device_slot_; }

  /// Returns the record's place, which has no buffer if the record was dropped. An `incomplete` record is written again
  /// when its activity ends.
  template <typename Record>
  Reserved write(BufferSlot& slot, const Record& record, bool incomplete = false) {
    return write_record(slot, record.kind, &record, sizeof record, incomplete);
  }
  Reserved write_record(BufferSlot& slot, std::uint32_t kind, const void* record, std::size_t record_size,
                        bool incomplete);

  void hand_over(const Buffer& buffer);
  /// Waits for the worker to return buffers: after a flush, the caller may unload CUPTI.
  void wait_for_worker();
  void hand_over_full(bool forced);
  [[noreturn]] void work();

  /// Completes the records of ended activities, or writes them if none were reserved. With `all`, also writes records
  /// of running activities, with times of 0.
  void take_finished(bool all);

  static bool fault(std::uint64_t every, std::uint64_t number) { return every != 0 && number % every == 0; }

  /// Writes the incomplete record. Call on the launching thread, which may own the buffer.
  void reserve(Work& work);

  void write_work(const Work& work, bool complete);
  void finish_record(const Work& work, const Reserved& place, Times times);
  static std::uint32_t record_kind(const std::uint8_t* record);

  bool drops(std::uint64_t number);
  std::uint32_t correlation_of(const Work& work, std::uint64_t number) const;
  Times times_of(const Work& work, std::uint64_t number);
  Reserved put(BufferSlot& slot, const Work& work, Times times, std::uint32_t correlation, bool incomplete);
  void overhead(std::uint32_t kind, std::uint64_t start, std::uint64_t end, std::uint32_t correlation);
  void tell_devices(fake::Device& device);

  std::shared_mutex calls_lock_;
  std::atomic<int> sessions_{0};
  const bool is_subscriber_;
  const Options options_;
  std::atomic<int> registered_again_{0}, spoiled_{0};
  std::atomic<std::uint64_t> graph_kernels_{0};
  std::uint32_t this_graph_ = 0, last_graph_ = 0;  // protected by the simulator's lock
  std::shared_mutex callback_lock_;
  // request_ and complete_ need no lock: clients register them while no kind is enabled.
  std::function<void(std::uint8_t**, std::size_t*, std::size_t*)> request_;
  std::function<void(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t)> complete_;
  std::atomic<bool> taken_{false};
  std::atomic<Timestamp> timestamp_{nullptr};
  std::mutex order_lock_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, LastEnd> last_of_stream_;
  std::uint64_t clock_anchor_ = 0, realtime_anchor_ = 0;

  std::mutex kinds_lock_;
  std::atomic<bool> kinds_[kKinds] = {};
  /// Recorded calls of one API: all but the exceptions, or none but the exceptions.
  struct Calls {
    bool all = false;
    std::set<std::uint32_t> exceptions;
  };
  Calls& calls_of(std::uint32_t kind) { return calls_[kind == kRuntime ? 1 : 0]; }
  Calls calls_[2];

  Subscriber mine_;
  std::atomic<bool> subscribed_{false};
  std::set<std::pair<std::uint32_t, std::uint32_t>> callbacks_;
  std::set<std::uint32_t> domains_;

  std::atomic<bool> per_thread_{FAKE_CUPTI_VERSION >= 130000 || number("FAKE_CUPTI_PER_THREAD") != 0},
      system_thread_ids_{false};
  std::mutex slots_lock_;
  std::vector<std::unique_ptr<BufferSlot>> slots_;
  BufferSlot &shared_slot_ = new_slot(), &device_slot_ = new_slot();
  std::mutex requested_lock_;
  std::set<const std::uint8_t*> requested_;  // not yet returned
  std::mutex full_lock_;
  std::deque<SharedBuffer> full_;
  std::atomic<int> handing_over_{0};

  std::mutex take_lock_, finished_lock_;
  std::condition_variable worker_wake_;
  std::vector<Finished> finished_;  // heap: first to become visible on top
  std::atomic<std::uint64_t> device_records_{0};
  std::mt19937 random_{1};
  std::atomic<bool> worker_started_{false};

  Counters counters_;
  std::atomic<std::uint64_t> all_dropped_{0};
};

}  // namespace fake::cupti
