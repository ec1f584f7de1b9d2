#pragma once

#include <cstdint>
#include <optional>

namespace profshim::session {

/// Turns readings of a count that grows into its growth.
class Rate {
 public:
  /// Returns the growth per second since the last reading. Nothing at the first reading, if the count went back, and
  /// within kLeast_ns, when the older reading is kept.
  std::optional<double> next(std::uint64_t count, std::int64_t at_ns) {
    const std::int64_t passed_ns = at_ns - at_ns_;
    if (is_known_ && count >= count_ && passed_ns < kLeast_ns) return std::nullopt;
    const bool grew = is_known_ && count >= count_;
    const double growth = grew ? static_cast<double>(count - count_) : 0;
    is_known_ = true;
    count_ = count;
    at_ns_ = at_ns;
    if (!grew) return std::nullopt;
    return growth * 1e9 / static_cast<double>(passed_ns);
  }
  void forget() { is_known_ = false; }

  static constexpr std::int64_t kLeast_ns = 5'000'000;

 private:
  bool is_known_ = false;
  std::uint64_t count_ = 0;
  std::int64_t at_ns_ = 0;
};

}  // namespace profshim::session
