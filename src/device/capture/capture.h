// Capture: switches CUPTI on and off, flushes it, waits for device activity, and makes room for other clients. It has
// no thread and no clock of its own, so that tests can drive it. Everything runs on the device thread, except where a
// comment says otherwise.
//
//   off --> on --(the window ends: every kind goes off at once)--> draining --(all activity is delivered)--> off
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "activity_kinds.h"
#include "buffer_callbacks.h"
#include "capture_options.h"
#include "capture_request.h"
#include "converter.h"
#include "device/cupti/activity_scope.h"
#include "device/cupti/api.h"
#include "device/cupti/buffer_pool.h"
#include "recording.h"

namespace profshim::device {

class Capture {
 public:
  enum class State : std::uint8_t { kOff, kOn, kDraining, kYielded, kFinished };

  static constexpr std::int64_t kFlushEvery_ns = 1'000'000'000;
  static constexpr std::int64_t kPollEvery_ns = 5'000'000;      // while a thread waits; pauses grow from here
  static constexpr std::int64_t kTimeout_ns = 10'000'000'000;   // for device activity that does not come
  static constexpr std::int64_t kExitTimeout_ns = 500'000'000;  // the same at the end of the process, without progress
  static constexpr std::int64_t kQuietTime_ns = 2'000'000'000;  // without a buffer at CUPTI and without progress
  static constexpr Ticks kEverything = ~Ticks{0};

  Capture(const CuptiApi& api, EventOutput& output, const CaptureOptions& options);
  ~Capture();

  /// Reads the version and the API names of this CUPTI. Registers nothing, which would keep other clients out. Returns
  /// "", or a sentence if this CUPTI cannot be used. `of_another_thread` helps to find the threads of API calls. Call
  /// it after cuInit: CUPTI 13.2.23 to 13.2.86 recurse without end in cuptiGetVersion if they cannot initialize (seen
  /// without a usable driver).
  std::string prepare(const IdPlaces& of_another_thread);
  /// Makes one of the buffers that do not exist yet. Returns false if all exist.
  bool make_one_buffer() { return pool_.make(options_.buffers, options_.buffer_bytes) && pool_.make_more(); }
  std::uint32_t version() const { return version_; }

  /// Does what the request asks for, as far as that is possible now. Returns the nanoseconds after which it must be
  /// called again at the latest; -1 = when the request changes. Never throws: without memory it lets go of CUPTI for
  /// good, and failure() says so.
  std::int64_t serve(const CaptureRequest& request, std::int64_t now_ns) noexcept;
  /// Returns why the capture let go of CUPTI for good; "" = it has not.
  const char* failure() const { return failure_; }

  /// Any thread.
  State state() const { return state_.load(std::memory_order_acquire); }
  /// All device activity launched before this has been delivered or given up. Any thread.
  Ticks settled_until() const { return settled_until_.load(std::memory_order_acquire); }
  /// Returns true if buffers ran out or CUPTI dropped records since the last call.
  bool take_overflow();
  /// Returns true if CUPTI refused to record when it was last switched on. Any thread.
  bool refused() const { return refused_.load(std::memory_order_acquire); }
  /// Returns why it refused.
  const std::string& refusal() const { return refusal_; }
  /// Returns the kinds that CUPTI did not record beside the kernels, when it was last switched on.
  const std::string& not_recorded() const { return kinds_.not_recorded(); }

  /// Returns true if our client is a subscriber, beside which others may record.
  bool is_shared() const { return scope_.is_shared(); }
  ActivityScope& scope() { return scope_; }
  Converter& converter() { return converter_; }
  BufferPool& pool() { return pool_; }

 private:
  // capture.cpp
  std::int64_t serve_now(const CaptureRequest& request, std::int64_t now_ns);
  std::int64_t serve_on(const CaptureRequest& request, std::int64_t now_ns);
  bool turn_on(std::int64_t now_ns);
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
  bool has_recorded_ = false;   // some client has recorded in this process
  bool keeps_buffers_ = false;  // this CUPTI keeps buffers into which it writes no record any more
  Ticks on_since_ = 0, drain_until_ = 0;
  std::int64_t last_flush_ns_ = 0, waiting_since_ns_ = 0, last_progress_ns_ = 0;
  std::int64_t busy_ns_ = 0;  // when CUPTI was last seen with a buffer from before drain_until_
  Ticks waiting_for_ = 0;     // the `settle_before` that waiting_since_ns_ is for
  std::uint64_t overflows_seen_ = 0;
};

}  // namespace profshim::device
