// Moves slices that overlap others in part to overflow tracks: viewers misdraw such slices. Kernels stay on their
// stream; `profshim convert` moves them.
#pragma once

#include <cstdint>
#include <vector>

namespace profshim::kineto {

/// Overflow track N has the original tid plus N steps. Real tids end at 2^22.
inline constexpr std::int64_t kOverflowTidStep = 10'000'000;

class OverflowTracks {
 public:
  static constexpr std::size_t kMaxTracks = 64;

  /// Returns the overflow track; 0 = the original. Call in order of begin, longest slice first. The last track takes
  /// slices that fit nowhere (damaged spool).
  int place(std::int64_t begin_ns, std::int64_t end_ns) {
    for (std::size_t track = 0;; ++track) {
      if (track == open_.size()) open_.emplace_back();
      std::vector<std::int64_t>& ends = open_[track];
      while (!ends.empty() && ends.back() <= begin_ns) ends.pop_back();
      if (!ends.empty() && ends.back() < end_ns && track + 1 < kMaxTracks) continue;
      ends.push_back(end_ns);
      return static_cast<int>(track);
    }
  }

  template <class Function>
  void name_up_to(int last, const Function& name) {
    for (; named_ <= last; ++named_) name(named_);
  }

 private:
  std::vector<std::vector<std::int64_t>> open_;  // per track: ends of open slices, innermost last
  int named_ = 0;
};

}  // namespace profshim::kineto
