// Keeps slices of one thread from overlapping in part: readers nest slices by time and drop or misdraw what does not.
#pragma once

#include <cstdint>
#include <vector>

namespace profshim::kineto {

/// Feed slices in the order (begin, longest first); each gets the first lane in which it nests or follows. Lane 0 is
/// the thread itself. The last of kMaxLanes takes what fits nowhere: calls of one thread nest, a damaged spool's need
/// not.
class Lanes {
 public:
  static constexpr std::size_t kMaxLanes = 64;

  int place(std::int64_t begin_ns, std::int64_t end_ns) {
    for (std::size_t lane = 0;; ++lane) {
      if (lane == open_.size()) open_.emplace_back();
      std::vector<std::int64_t>& ends = open_[lane];
      while (!ends.empty() && ends.back() <= begin_ns) ends.pop_back();
      if (!ends.empty() && ends.back() < end_ns && lane + 1 < kMaxLanes) continue;
      ends.push_back(end_ns);
      return static_cast<int>(lane);
    }
  }

 private:
  std::vector<std::vector<std::int64_t>> open_;  // ends of the slices that are open, innermost last
};

}  // namespace profshim::kineto
