// Bytes that allocators handed out, less those they took back, in any interval of one file.
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

/// Returns the bytes of one record, on the side of its device type.
MemoryBytes bytes_of(const MemoryRecord& record);

/// Keeps running sums, so the bytes of an interval are a difference of two. Failed allocations do not count. The
/// records must outlive it.
class MemorySums {
 public:
  explicit MemorySums(const std::vector<MemoryRecord>& records);
  bool empty() const { return records_.empty(); }
  /// Returns the bytes from `begin` to `end`, both included.
  MemoryBytes during(std::int64_t begin, std::int64_t end) const;
  /// Marks the records of an interval as covered.
  void cover(std::int64_t begin, std::int64_t end);
  /// Returns the records that no interval covers.
  std::vector<const MemoryRecord*> uncovered() const;

 private:
  std::pair<std::size_t, std::size_t> range(std::int64_t begin, std::int64_t end) const;

  std::vector<const MemoryRecord*> records_;  // by time
  std::vector<MemoryBytes> sums_;             // sums_[i]: of the first i records
  std::vector<std::int64_t> covers_;  // covers_[i]: intervals that begin at record i, less those that end before
};

}  // namespace profshim::analysis_detail
