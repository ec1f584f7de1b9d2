// How large the trace of the open window is going to be, for limits.trace_size: what threads have committed, times what
// such events take in JSON. The writer measures that on some of the window's own events, long before the limit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

namespace profshim::session {

/// Collector and writer.
class TraceSize {
 public:
  /// `bytes_per_event`: a guess, until something has been measured.
  TraceSize(std::uint64_t limit, double bytes_per_event)
      : limit_(static_cast<double>(limit)), bytes_per_event_(bytes_per_event) {}

  /// A window opens, `committed` events after the start of the recording.
  void begin(std::uint64_t committed) {
    const std::lock_guard lock(mutex_);
    settled_ = seen_ = committed;
    settled_bytes_ = fixed_bytes_ = 0;
    measured_until_ = 0;
    wants_measure_ = false;
  }

  /// Has the window reached the limit, or will have at the next look?
  bool reached(std::uint64_t committed) {
    const std::lock_guard lock(mutex_);
    const double before = bytes_at(seen_);
    seen_ = committed > seen_ ? committed : seen_;
    const double now = bytes_at(seen_);
    if (now > measured_until_ + kMeasureEvery * limit_ && seen_ - settled_ >= kLeastEvents) wants_measure_ = true;
    return now + std::min(now - before, kAtOnce * limit_) > kFull * limit_;
  }

  bool wants_measure() {
    const std::lock_guard lock(mutex_);
    return wants_measure_;
  }
  /// The number of the event up to which a measurement counts that begins now; 0 = none is wanted.
  std::uint64_t take_wish() {
    const std::lock_guard lock(mutex_);
    if (!wants_measure_) return 0;
    wants_measure_ = false;
    measured_until_ = bytes_at(seen_);
    return seen_;
  }

  /// `bytes_per_event` holds for all events since the last measurement up to number `until`; `fixed_bytes` is what the
  /// trace has beside its events.
  void measured(std::uint64_t until, double fixed_bytes, double bytes_per_event) {
    const std::lock_guard lock(mutex_);
    if (until < settled_) return;  // of a window that has closed
    settled_bytes_ += static_cast<double>(until - settled_) * bytes_per_event;
    settled_ = until;
    fixed_bytes_ = fixed_bytes;
    bytes_per_event_ = bytes_per_event;
    measured_until_ = bytes_at(seen_);
  }

 private:
  static constexpr double kMeasureEvery = 0.12;  // of the limit
  static constexpr double kAtOnce = 0.06;        // likewise; a look that came late says little about the next one
  static constexpr double kFull = 0.93;          // of it: the rest is for what a measurement is off
  static constexpr std::uint64_t kLeastEvents = 100;

  double bytes_at(std::uint64_t committed) const {
    return fixed_bytes_ + settled_bytes_ + static_cast<double>(committed - settled_) * bytes_per_event_;
  }

  std::mutex mutex_;
  const double limit_;
  double bytes_per_event_;
  double settled_bytes_ = 0, fixed_bytes_ = 0;  // of events that have been measured; beside the events
  double measured_until_ = 0;                   // bytes at the last measurement
  std::uint64_t settled_ = 0, seen_ = 0;        // events, counted from the start of the recording
  bool wants_measure_ = false;
};

}  // namespace profshim::session
