#include "launch_index.h"

#include <algorithm>
#include <limits>

#include "profshim/device/correlation.h"

namespace profshim::kineto {

void LaunchIndex::add(const Event& call) {
  const std::uint64_t place = view_.slot_of(call);
  // Calls beyond the first 256 GiB of chunks are not indexed: their activity becomes orphans.
  if (place > std::numeric_limits<std::uint32_t>::max()) return;
  entries_.push_back(std::uint64_t{call.api.correlation} << 32 | place);
}

const Event& LaunchIndex::event_of(std::uint64_t entry) const { return view_.slot(static_cast<std::uint32_t>(entry)); }

const Event& LaunchIndex::call(std::uint32_t position) const { return event_of(entries_[position]); }

bool LaunchIndex::is_better(std::uint64_t a, std::uint64_t b, Ticks begin, Ticks end) const {
  const Event &first = event_of(a), &second = event_of(b);
  const auto inside = [=](const Event& e) { return e.begin >= begin && e.begin < end; };
  if (inside(first) != inside(second)) return inside(first);
  return is_launch_rather_than(first, second);
}

void LaunchIndex::finish(Ticks begin, Ticks end) {
  if (!std::is_sorted(entries_.begin(), entries_.end())) std::sort(entries_.begin(), entries_.end());
  std::size_t kept = 0;
  for (const std::uint64_t entry : entries_) {
    if (kept == 0 || entries_[kept - 1] >> 32 != entry >> 32) {
      entries_[kept++] = entry;
    } else if (is_better(entry, entries_[kept - 1], begin, end)) {
      entries_[kept - 1] = entry;
    }
  }
  entries_.resize(kept);
  has_activity_.assign(kept, false);
  has_sync_.assign(kept, false);
}

std::uint32_t LaunchIndex::find(std::uint32_t correlation, std::uint32_t& hint) const {
  if (entries_.empty()) return kNotFound;
  const std::uint64_t key = std::uint64_t{correlation} << 32;
  const std::size_t size = entries_.size();
  std::size_t first = std::min<std::size_t>(hint, size - 1), last = first;
  if (entries_[first] < key) {
    for (std::size_t step = 1; last < size && entries_[last] < key; step *= 2) {
      first = last;
      last = std::min(size, last + step);
    }
  } else {
    for (std::size_t step = 1; first > 0 && entries_[first] >= key; step *= 2) {
      last = first;
      first -= std::min(first, step);
    }
    last = std::min(size, last + 1);
  }
  const auto at = std::lower_bound(entries_.begin() + static_cast<std::ptrdiff_t>(first),
                                   entries_.begin() + static_cast<std::ptrdiff_t>(last), key);
  hint = static_cast<std::uint32_t>(at - entries_.begin());
  return at != entries_.end() && *at >> 32 == correlation ? hint : kNotFound;
}

}  // namespace profshim::kineto
