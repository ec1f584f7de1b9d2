#include "device_memory.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analysis/model/statistics.h"

namespace profshim::analysis_detail {
namespace {

constexpr std::uint32_t kNever = DeviceMemory::kNever;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;  // more is damage

bool has_possible_size(const MemoryEvent& e) { return e.bytes != 0 && e.bytes <= kMostBytes && e.bytes >= -kMostBytes; }

bool is_usable(const MemoryEvent& e) {
  if (!has_possible_size(e) || e.allocated > kMostBytes) return false;
  return e.address != 0 || e.allocated >= std::max<std::int64_t>(e.bytes, 0);
}

bool has_only_a_size(const MemoryEvent& e) { return e.address == 0 && e.allocated < 0; }

void add_up_sizes(const std::deque<MemoryEvent>& all, DeviceMemory& memory) {
  std::int64_t sum = 0, lowest = 0;
  for (const std::uint32_t number : memory.events) {
    sum = bounded_sum(sum, all[number].bytes);
    lowest = std::min(lowest, sum);
    memory.allocated.push_back(sum);
  }
  memory.before = -lowest;
  for (std::int64_t& bytes : memory.allocated) bytes = bounded_sum(bytes, memory.before);
  memory.released.assign(memory.events.size(), kNever);
  memory.ends.assign(memory.events.size(), kNever);
  memory.without_total = memory.events.size();
  const auto& values = memory.allocated;
  memory.highest = static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

class BlockFollower {
 public:
  BlockFollower(const std::deque<MemoryEvent>& all, DeviceMemory& memory) : all_(all), memory_(memory) {
    const std::size_t count = memory.events.size();
    memory.released.assign(count, kNever);
    memory.ends.assign(count, kNever);
    has_total_.resize(count);
  }

  void match() {
    for (std::uint32_t i = 0; i < memory_.events.size(); ++i) {
      event(i).bytes > 0 ? allocate(i) : release(i);
    }
  }

  /// Blocks of allocators without totals are added to the totals of the others.
  void add_up() {
    std::int64_t total = first_total_, others = older_bytes_;
    memory_.before = total + others;
    memory_.allocated.reserve(memory_.events.size());
    for (std::uint32_t i = 0; i < memory_.events.size(); ++i) {
      const MemoryEvent& e = event(i);
      if (const std::uint32_t ended = memory_.ends[i]; ended != kNever) {
        if (!has_total_[ended]) others = bounded_sum(others, -event(ended).bytes);
      } else if (e.bytes < 0 && !has_total_[i]) {
        others = bounded_sum(others, e.bytes);
      }
      if (has_total_[i]) total = e.allocated;
      if (e.bytes > 0 && !has_total_[i]) others = bounded_sum(others, e.bytes);
      memory_.allocated.push_back(std::max<std::int64_t>(bounded_sum(total, others), 0));
    }
    const auto& values = memory_.allocated;
    memory_.highest = static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
  }

 private:
  const MemoryEvent& event(std::uint32_t i) const { return all_[memory_.events[i]]; }

  void allocate(std::uint32_t i) {
    const MemoryEvent& e = event(i);
    // An allocator's total holds at least the new block.
    note_total(i, e.allocated >= e.bytes);
    if (e.address == 0) return;
    const auto [at, is_new] = alive_.emplace(e.address, i);
    if (!is_new) {
      ++memory_.unseen_releases;
      end(std::exchange(at->second, i), i);
    }
    if (has_total_[i]) ++known_;
  }

  void release(std::uint32_t i) {
    const MemoryEvent& e = event(i);
    const auto at = alive_.find(e.address);
    if (at == alive_.end()) {
      note_total(i, e.allocated > 0 || (e.allocated == 0 && known_ == 0));
      if (!has_total_[i]) older_bytes_ = bounded_sum(older_bytes_, -e.bytes);
      ++memory_.older_blocks;
      return;
    }
    note_total(i, has_total_[at->second] && e.allocated >= 0);
    end(at->second, i);
    alive_.erase(at);
  }

  void end(std::uint32_t block, std::uint32_t at) {
    memory_.released[block] = at;
    memory_.ends[at] = block;
    if (has_total_[block]) --known_;
  }

  void note_total(std::uint32_t i, bool has_total) {
    has_total_[i] = has_total;
    if (!has_total) {
      ++memory_.without_total;
      return;
    }
    if (event(i).reserved > 0) memory_.reserves = true;
    if (std::exchange(has_first_total_, true)) return;
    first_total_ = std::max<std::int64_t>(event(i).allocated - event(i).bytes, 0);
  }

  const std::deque<MemoryEvent>& all_;
  DeviceMemory& memory_;
  std::vector<bool> has_total_;
  std::unordered_map<std::int64_t, std::uint32_t> alive_;  // by address
  std::uint64_t known_ = 0;                                // alive blocks of allocators with totals
  bool has_first_total_ = false;
  std::int64_t first_total_ = 0, older_bytes_ = 0;
};

}  // namespace

DeviceMemory follow_blocks(const std::deque<MemoryEvent>& all, std::vector<std::uint32_t> events) {
  DeviceMemory memory;
  memory.only_sizes =
      std::all_of(events.begin(), events.end(), [&](std::uint32_t number) { return has_only_a_size(all[number]); });
  const auto is_used = memory.only_sizes ? has_possible_size : is_usable;
  memory.unusable = std::erase_if(events, [&](std::uint32_t number) { return !is_used(all[number]); });
  std::stable_sort(events.begin(), events.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return all[a].at_ns < all[b].at_ns; });
  memory.events = std::move(events);
  if (memory.empty()) return memory;
  if (memory.only_sizes) {
    add_up_sizes(all, memory);
    return memory;
  }
  BlockFollower follower(all, memory);
  follower.match();
  follower.add_up();
  return memory;
}

std::vector<PartBytes> parts_at(const DeviceMemory& memory, const MemoryReader& reader,
                                const std::vector<std::uint32_t>& indexes) {
  std::vector<PartBytes> result;
  PartBytes now;
  std::int64_t known = 0;
  const auto change = [&](std::uint32_t block, std::int64_t sign) {
    const MemoryEvent& e = reader.events()[memory.events[block]];
    if (e.address == 0) return;
    std::int64_t& of_part = now.of_part[static_cast<std::size_t>(reader.tree()[e.node].part)];
    of_part = bounded_sum(of_part, sign * e.bytes);
    known = bounded_sum(known, sign * e.bytes);
  };
  std::uint32_t next = 0;
  for (const std::uint32_t index : indexes) {
    for (; next <= index; ++next) {
      if (memory.ends[next] != kNever) change(memory.ends[next], -1);
      if (reader.events()[memory.events[next]].bytes > 0) change(next, 1);
    }
    now.older = std::max<std::int64_t>(memory.allocated[index] - known, 0);
    result.push_back(now);
  }
  return result;
}

std::vector<std::uint32_t> alive_at(const DeviceMemory& memory, const std::deque<MemoryEvent>& all, std::size_t index) {
  std::vector<std::uint32_t> alive;
  for (std::uint32_t i = 0; i <= index; ++i) {
    const MemoryEvent& e = all[memory.events[i]];
    const bool is_released = memory.released[i] != kNever && memory.released[i] <= index;
    if (e.bytes > 0 && e.address != 0 && !is_released) alive.push_back(i);
  }
  return alive;
}

}  // namespace profshim::analysis_detail
