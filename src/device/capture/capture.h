// Controls CUPTI. Runs on the device thread, unless noted.
//
//  off --> on --(window ends: kinds go off)--> draining --(all activity delivered)--> off
//   draining --(next window begins)--> on
//
// All kinds go on once and off once in a process. Between two windows they stay on, and their records are discarded: if
// a kind goes off while a thread is inside a CUDA call, CUPTI 13 gives all later calls and kernels of that thread one
// correlation id once the kind is on again, and 13.0 and 13.1 crash in their worker thread (tests/gpu/RESULTS.md,
// "kinds that go on again").
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "activity_kinds.h"
#include "buffer_callbacks.h"
#include "capture_request.h"
#include "converter.h"
#include "device/cupti/activity_scope.h"
#include "device/cupti/api.h"
#include "device/cupti/buffer_pool.h"
#include "device/cupti/cupti_dump.h"

namespace profshim::device {

class Capture {
 public:
  /// kYielded: another client uses CUPTI. kFinished: final.
  enum class State : std::uint8_t { kOff, kOn, kDraining, kYielded, kFinished };

  static constexpr std::int64_t kFlushEvery_ns = 1'000'000'000;
  static constexpr std::int64_t kPollEvery_ns = 5'000'000;      // shortest interval of flushes, if a window waits
  static constexpr std::int64_t kTimeout_ns = 10'000'000'000;   // longest wait for missing activity
  static constexpr std::int64_t kExitTimeout_ns = 500'000'000;  // at process end, without progress
  static constexpr std::int64_t kQuietTime_ns = 2'000'000'000;  // ends a drain without progress or buffers at CUPTI
  static constexpr Ticks kEverything = ~Ticks{0};

  Capture(const CuptiApi& api, EventOutput& output, const CaptureOptions& options);
  ~Capture();

  /// Returns "" or why CUPTI is unusable. Registers nothing: that would keep other clients out. Call after cuInit:
  /// without a driver, cuptiGetVersion of CUPTI 13.2.23 to 13.2.86 recurses without end.
  std::string prepare(const IdPlaces& of_another_thread);
  bool make_one_buffer() { return pool_.make(options_.buffers, options_.buffer_bytes) && pool_.make_more(); }
  std::uint32_t version() const { return version_; }

  /// Returns the nanoseconds until the next serve(); -1 = when the request changes.
  std::int64_t serve(const CaptureRequest& request, std::int64_t now_ns) noexcept;
  /// Why serve() ended the recording, or "".
  const char* failure() const { return failure_; }

  /// Thread-safe.
  State state() const { return state_.load(std::memory_order_acquire); }
  /// Activity launched before this time was delivered or given up. Thread-safe.
  Ticks settled_until() const { return settled_until_.load(std::memory_order_acquire); }
  bool take_overflow();
  /// True if CUPTI cannot be switched on. Thread-safe.
  bool refused() const { return refused_.load(std::memory_order_acquire); }
  const std::string& refusal() const { return refusal_; }
  const std::string& not_recorded() const { return kinds_.not_recorded(); }

  bool is_shared() const { return scope_.is_shared(); }
  ActivityScope& scope() { return scope_; }
  Converter& converter() { return converter_; }
  BufferPool& pool() { return pool_; }

 private:
  // capture.cpp
  std::int64_t serve_now(const CaptureRequest& request, std::int64_t now_ns);
  std::int64_t serve_on(const CaptureRequest& request, std::int64_t now_ns);
  bool turn_on(std::int64_t now_ns);
  /// The first recording of the process, or since another client used CUPTI.
  bool begin(bool drains);
  void register_clock();
  void take_records(std::int64_t now_ns, bool flushed, bool last);
  void flush(std::uint32_t flag, std::int64_t now_ns, bool last);
  std::int64_t poll_interval(std::int64_t now_ns) const;
  void count_lost_launches();
  void give_up_before(Ticks end);

  // capture_drain.cpp
  Ticks oldest_buffer() const;
  void begin_drain(const CaptureRequest& request, std::int64_t now_ns);
  void drain(const CaptureRequest& request, std::int64_t now_ns);
  void end_drain(const CaptureRequest& request, bool all_here, std::int64_t now_ns);
  void leave(Ticks until);
  void discard_completed();
  bool is_paused() const { return state() == State::kOff && kinds_.any_enabled(); }
  void discard_records();
  void begin_again();
  void end_pause();
  void hand_over(const CaptureRequest& request, std::int64_t now_ns);
  void take_back();

  const CuptiApi api_;
  const CaptureOptions options_;
  ActivityScope scope_;
  Converter converter_;
  ActivityKinds kinds_;
  BufferPool pool_;
  std::unique_ptr<RecordingFile> recording_;
  std::uint32_t version_ = 0;
  std::atomic<State> state_{State::kOff};
  std::atomic<Ticks> settled_until_{kEverything};
  std::atomic<bool> refused_{false};
  std::string refusal_;
  const char* failure_ = "";
  bool clock_asked_ = false;
  bool has_recorded_ = false;   // true also if another client has recorded
  bool keeps_buffers_ = false;  // this CUPTI keeps complete buffers despite flushes
  bool stays_on_ = false;       // after this window
  bool was_paused_ = false;
  Ticks on_since_ = 0, drain_until_ = 0;
  std::int64_t last_flush_ns_ = 0, waiting_since_ns_ = 0, last_progress_ns_ = 0;
  std::int64_t busy_ns_ = 0;  // when CUPTI last had a buffer from before drain_until_
  std::size_t left_ = 0;      // outstanding launches before drain_until_
  std::int64_t left_changed_ns_ = 0;
  Ticks waiting_for_ = 0;  // the `settle_before` awaited since waiting_since_ns_
  std::uint64_t overflows_seen_ = 0;
};

}  // namespace profshim::device
