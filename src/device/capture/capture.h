// One CUPTI and what is done with it: on, off, flush, wait for device work, make room for another client. Everything
// but the callbacks of CUPTI runs on the device thread. Has no thread and no clock of its own, so that tests drive it.
//
//   off --> on --(the window ends: every kind is off at once)--> draining --(all device work is there)--> off
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "converter.h"
#include "device/cupti/activity_scope.h"
#include "device/cupti/api.h"
#include "device/cupti/buffer_pool.h"
#include "recording.h"

namespace profshim::device {

struct CaptureOptions {
  std::size_t buffers = 16;
  std::size_t buffer_bytes = 1 << 20;
  std::size_t table_bytes = 16 << 20;  // for what is remembered between the records
  bool whole_graphs = false;           // one record per graph launch instead of one per node
  bool memory = false;                 // allocations and releases
  bool synchronization = false;        // waits of the host and of streams
  bool external = false;               // operations are pushed around launches
  bool own_clock = true;               // CUPTI may be given our clock
  std::string dump_folder;             // where the buffers are kept as they come; "" = nowhere
};

/// Requests of the rest of the process, as they are now.
struct CaptureRequest {
  bool on = false;
  Ticks off_at = 0;               // without `on`: what was launched before is still wanted
  Ticks settle_before = 0;        // somebody waits for all that was launched before
  bool yield = false;             // another client has CUPTI
  bool yielded_too_late = false;  // and has begun before we had let go: nothing of CUPTI's may be touched any more
  TimestampCallback foreign_clock = nullptr;  // another client's, which CUPTI uses
  bool finish = false;                        // the process ends
  bool abrupt = false;                        // without waiting for what still runs
};

/// Called whenever CUPTI has given a buffer back, on its thread; null = nobody.
void call_when_completed(void (*function)());
/// Where buffers go that CUPTI gives back to us but has asked another client for: one that disabled its kinds and never
/// flushed. Null = nowhere; they are counted.
void forward_foreign_buffers(BufferCompleted completed);

class Capture {
 public:
  enum class State : std::uint8_t { kOff, kOn, kDraining, kYielded, kFinished };

  static constexpr std::int64_t kFlushEvery_ns = 1'000'000'000;
  static constexpr std::int64_t kLookEvery_ns = 5'000'000;       // while somebody waits
  static constexpr std::int64_t kPatience_ns = 10'000'000'000;   // for device work that does not come
  static constexpr std::int64_t kExitPatience_ns = 500'000'000;  // likewise when nothing comes at all at the end
  static constexpr std::int64_t kQuiet_ns =
      2'000'000'000;  // with no buffer at CUPTI so long after the end: all is here
  static constexpr Ticks kEverything = ~Ticks{0};

  Capture(const CuptiApi& api, EventOutput& output, const CaptureOptions& options);
  ~Capture();

  /// Learns what this CUPTI is. Registers nothing: that would keep other clients out. A sentence when it cannot be
  /// used, else "". `of_another_thread` helps to find the threads of calls. After cuInit: CUPTI 13.2.23 to 13.2.86
  /// recurse without end in cuptiGetVersion where they cannot initialize (seen without a usable driver).
  std::string prepare(const IdPlaces& of_another_thread);
  /// Makes one more buffer, of those that are not there yet; false when all are. Device thread.
  bool make_one_buffer() { return pool_.make(options_.buffers, options_.buffer_bytes) && pool_.make_more(); }
  std::uint32_t version() const { return version_; }

  /// Does what the request ask for, as far as it can be done now; when to come again at the latest, in nanoseconds from
  /// now; -1 = when the request change. Never throws: without memory it lets go of CUPTI for good.
  std::int64_t serve(const CaptureRequest& request, std::int64_t now_ns) noexcept;
  /// It has, and why; "" = no. Device thread.
  const char* failure() const { return failure_; }

  State state() const { return state_.load(std::memory_order_acquire); }
  /// Everything launched before this has been delivered or given up. Any thread.
  Ticks settled_until() const { return settled_until_.load(std::memory_order_acquire); }
  /// Buffers ran out or CUPTI dropped records since the last call.
  bool take_overflow();
  /// CUPTI would not record when it was last switched on. Any thread.
  bool refused() const { return refused_.load(std::memory_order_acquire); }
  /// Why.
  const std::string& refusal() const { return refusal_; }
  /// Kinds that CUPTI did not record beside the kernels, when it was last switched on: "copies, API calls". Device
  /// thread.
  const std::string& not_recorded() const { return not_recorded_; }

  /// Other clients may record beside us: this CUPTI has the subscriber API, and it is in use.
  bool is_shared() const { return scope_.is_shared(); }
  ActivityScope& scope() { return scope_; }
  Converter& converter() { return converter_; }
  BufferPool& pool() { return pool_; }

 private:
  std::int64_t serve_now(const CaptureRequest& request, std::int64_t now_ns);
  bool turn_on(std::int64_t now_ns);
  bool enable_kinds();
  void enable_what_exists();
  void enable_calls(bool runtime);
  void turn_off();
  void begin_drain(const CaptureRequest& request, std::int64_t now_ns);
  void end_drain(const CaptureRequest& request, bool all_here, std::int64_t now_ns);
  void let_go(Ticks until);
  void discard_completed();
  std::int64_t serve_on(const CaptureRequest& request, std::int64_t now_ns);
  void take_records(std::int64_t now_ns, bool flushed, bool last);
  void round(std::uint32_t flag, std::int64_t now_ns, bool last);
  Ticks oldest_buffer() const;
  std::int64_t pause(std::int64_t now_ns) const;
  void count_lost_launches();
  void give_up_before(Ticks end);
  void drain(const CaptureRequest& request, std::int64_t now_ns);
  void hand_over(const CaptureRequest& request, std::int64_t now_ns);
  void take_back();
  void register_clock();

  const CuptiApi api_;
  const CaptureOptions options_;
  ActivityScope scope_;
  Converter converter_;
  BufferPool pool_;
  std::unique_ptr<RecordingFile> recording_;
  std::uint32_t version_ = 0;
  std::atomic<State> state_{State::kOff};
  std::atomic<Ticks> settled_until_{kEverything};
  std::vector<std::uint32_t> kinds_;     // that are on
  std::vector<std::uint32_t> calls_[2];  // of the driver, of the runtime API, where on one by one
  std::atomic<bool> refused_{false};
  std::string refusal_;
  std::string not_recorded_;
  const char* failure_ = "";
  bool clock_asked_ = false;
  bool has_recorded_ = false;   // somebody has, in this process
  bool keeps_buffers_ = false;  // this CUPTI keeps buffers that no record is written into any more
  Ticks on_since_ = 0, drain_until_ = 0;
  std::int64_t last_flush_ns_ = 0, waiting_since_ns_ = 0, last_progress_ns_ = 0, busy_ns_ = 0;
  Ticks waiting_for_ = 0;
  std::uint64_t overflows_seen_ = 0;
};

}  // namespace profshim::device
