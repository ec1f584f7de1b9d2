// The times in CUPTI's records, as ticks of our clock.
#pragma once

#include <cstdint>
#include <vector>

#include "profshim/base.h"

namespace profshim::device {

/// With our timestamp callback in force the times are ticks already. Without, they are CLOCK_REALTIME nanoseconds,
/// which are brought over between moments that are known on both clocks.
class RecordClock {
 public:
  void use_ticks(bool ticks_in_records) { direct_ = ticks_in_records; }
  bool direct() const { return direct_; }
  /// One such moment; in rising order. Two at least before the first conversion.
  void add(const Anchor& anchor);
  Ticks of(std::uint64_t record_time) const;

 private:
  static constexpr std::size_t kMost = 256;
  std::vector<Anchor> anchors_;
  bool direct_ = true;
};

}  // namespace profshim::device
