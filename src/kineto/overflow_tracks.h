// Keeps slices of one track from overlapping in part: readers nest slices by time, and drop or misdraw the others.
#pragma once

#include <cstdint>
#include <vector>

namespace profshim::kineto {

/// An overflow track has the tid of its track plus this for each overflow track before it. Real tids end at 2^22.
inline constexpr std::int64_t kOverflowTidStep = 10'000'000;

/// Finds a place for each slice of one track: the track itself (0) or an overflow track (1, 2, ...).
class OverflowTracks {
 public:
  static constexpr std::size_t kMaxTracks = 64;

  /// Takes slices in the order (begin, longest first). Returns the first track in which the slice nests or follows. The
  /// last track takes every slice that fits nowhere: only a damaged spool has that many.
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

  /// Calls `name` once for each track up to `last`.
  template <class Function>
  void name_up_to(int last, const Function& name) {
    for (; named_ <= last; ++named_) name(named_);
  }

 private:
  std::vector<std::vector<std::int64_t>> open_;  // by track: ends of the open slices, innermost last
  int named_ = 0;
};

}  // namespace profshim::kineto
