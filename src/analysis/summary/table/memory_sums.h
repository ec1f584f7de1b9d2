// Sums allocated minus released bytes in intervals of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/model/timeline.h"

namespace profshim::analysis_detail {

struct MemoryBytes {
  double cpu = 0, device = 0;
};

MemoryBytes bytes_of(const MemoryRecord& record);

/// Failed allocations do not count. The records must outlive the object.
class MemorySums {
 public:
  explicit MemorySums(const std::vector<MemoryRecord>& records);
  bool empty() const { return records_.empty(); }
  /// Includes `begin` and `end`.
  MemoryBytes during(std::int64_t begin, std::int64_t end) const;
  void cover(std::int64_t begin, std::int64_t end);
  std::vector<const MemoryRecord*> uncovered() const;

 private:
  std::pair<std::size_t, std::size_t> range(std::int64_t begin, std::int64_t end) const;

  std::vector<const MemoryRecord*> records_;
  std::vector<MemoryBytes> sums_;     // sums_[i]: sum of the first i records
  std::vector<std::int64_t> covers_;  // covered intervals that begin at record i, minus those that end before it
};

}  // namespace profshim::analysis_detail
