#pragma once

#include <algorithm>
#include <cstdint>

namespace profshim::session {

/// The times of samples: the first ones of a window are close together, so that a short window has rates, too.
class SampleTimes {
 public:
  explicit SampleTimes(double interval_seconds) : interval_ns_(static_cast<std::int64_t>(interval_seconds * 1e9)) {}

  /// A window has opened. The next sample is due now.
  void begin(std::int64_t now_ns) {
    next_ns_ = now_ns;
    gap_ns_ = std::min(kFirstGap_ns, interval_ns_);
  }
  std::int64_t next_ns() const { return next_ns_; }
  /// A sample was taken. Samples that are late already are skipped.
  void taken(std::int64_t now_ns) {
    next_ns_ += gap_ns_;
    if (next_ns_ <= now_ns) next_ns_ = now_ns + gap_ns_;
    gap_ns_ = std::min(2 * gap_ns_, interval_ns_);
  }

  static constexpr std::int64_t kFirstGap_ns = 50'000'000;

 private:
  std::int64_t interval_ns_, next_ns_ = 0, gap_ns_ = 0;
};

}  // namespace profshim::session
