// Estimates the open window's trace size (limits.trace_size): events times bytes of JSON per event, which the writer
// samples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

namespace profshim {

/// Used by the collector and writer threads.
class TraceSize {
 public:
  TraceSize(std::uint64_t limit, double bytes_per_event)
      : limit_(static_cast<double>(limit)), bytes_per_event_(bytes_per_event) {}

  void begin(std::uint64_t committed) {
    const std::lock_guard lock(mutex_);
    settled_ = seen_ = committed;
    settled_bytes_ = fixed_bytes_ = 0;
    measured_until_ = 0;
    wants_measure_ = false;
  }

  /// True if the limit is reached, or would be before the next call of reached().
  bool reached(std::uint64_t committed) {
    const std::lock_guard lock(mutex_);
    const double before = bytes_at(seen_);
    seen_ = committed > seen_ ? committed : seen_;
    const double now = bytes_at(seen_);
    if (now > measured_until_ + kMeasureEvery * limit_ && seen_ - settled_ >= kLeastEvents) wants_measure_ = true;
    return now + std::min(now - before, kAtOnce * limit_) > kFull * limit_;
  }

  /// True if a trace of so many events reaches the limit, by the bytes per event of the last measurement.
  bool is_beyond(double events) {
    const std::lock_guard lock(mutex_);
    return events * bytes_per_event_ > kFull * limit_;
  }

  bool wants_measure() {
    const std::lock_guard lock(mutex_);
    return wants_measure_;
  }
  /// Returns the `until` for measured(); 0 = nothing to measure.
  std::uint64_t start_measure() {
    const std::lock_guard lock(mutex_);
    if (!wants_measure_) return 0;
    wants_measure_ = false;
    measured_until_ = bytes_at(seen_);
    return seen_;
  }

  /// `bytes_per_event`: mean since the last measurement. `fixed_bytes`: size of a trace without events.
  void measured(std::uint64_t until, double fixed_bytes, double bytes_per_event) {
    const std::lock_guard lock(mutex_);
    if (until < settled_) return;  // measured for a closed window
    settled_bytes_ += static_cast<double>(until - settled_) * bytes_per_event;
    settled_ = until;
    fixed_bytes_ = fixed_bytes;
    bytes_per_event_ = bytes_per_event;
    measured_until_ = bytes_at(seen_);
  }

 private:
  // Fractions of the limit.
  static constexpr double kMeasureEvery = 0.12;
  static constexpr double kAtOnce = 0.06;  // most bytes expected until the next reached()
  static constexpr double kFull = 0.93;
  static constexpr std::uint64_t kLeastEvents = 100;

  double bytes_at(std::uint64_t committed) const {
    return fixed_bytes_ + settled_bytes_ + static_cast<double>(committed - settled_) * bytes_per_event_;
  }

  std::mutex mutex_;
  const double limit_;
  double bytes_per_event_;
  double settled_bytes_ = 0, fixed_bytes_ = 0;
  double measured_until_ = 0;
  std::uint64_t settled_ = 0, seen_ = 0;  // events: measured; committed
  bool wants_measure_ = false;
};

}  // namespace profshim
