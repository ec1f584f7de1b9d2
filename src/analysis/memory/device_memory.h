#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "memory_reader.h"

namespace profshim::analysis_detail {

/// The blocks of one device over time. An index counts this device's events in the order of time, without failed ones.
struct DeviceMemory {
  static constexpr std::uint32_t kNever = ~std::uint32_t{0};

  std::vector<std::uint32_t> events;    // by index: number in MemoryReader::events()
  std::vector<std::int64_t> allocated;  // by index: bytes after the event; never negative
  std::vector<std::uint32_t> released;  // by index of an allocation: index of its release
  std::vector<std::uint32_t> ends;      // by index: index of the allocation whose block it ends
  std::int64_t before = 0;              // bytes before the first event
  std::size_t highest = 0;              // index of the first event with the most bytes
  std::uint64_t older_blocks = 0;       // released blocks that were allocated before the trace
  std::uint64_t without_total = 0;      // events whose allocator reports no total
  std::uint64_t unusable = 0;           // events without a size, or without an address and a total: left out
  std::uint64_t unseen_releases = 0;    // blocks whose address was allocated again
  bool reserves = false;                // the allocator reports reserved bytes
  bool only_sizes = false;              // no event has an address or a total: the curve is the sum of the sizes

  bool empty() const { return events.empty(); }
};

/// PyTorch's allocators report their total after each event: that is the curve. Events of allocators that report none
/// (shared memory, older releases) are added up, and a release of an unknown block shows that the block was there from
/// the start. If no event has an address or a total, as in traces of 2021, their sizes are added up, and the lowest sum
/// is 0.
DeviceMemory follow_blocks(const std::deque<MemoryEvent>& all, std::vector<std::uint32_t> events);

/// Bytes that are alive after an event, by the part of the step that allocated them.
struct PartBytes {
  std::int64_t of_part[kStepParts] = {};
  std::int64_t older = 0;  // allocated before the trace, or unknown
};
/// `indexes` must be sorted.
std::vector<PartBytes> parts_at(const DeviceMemory& memory, const MemoryReader& reader,
                                const std::vector<std::uint32_t>& indexes);

/// Indexes of the allocations that are alive after the event `index`.
std::vector<std::uint32_t> alive_at(const DeviceMemory& memory, const std::deque<MemoryEvent>& all, std::size_t index);

}  // namespace profshim::analysis_detail
