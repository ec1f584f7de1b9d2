#include "communicators.h"

#include <cstdio>
#include <memory>
#include <new>

#include "profshim/recorder_control.h"

namespace profshim::inject {

StringId world_ranks_text(std::int32_t size, std::int32_t rank) {
  const spool::SpoolHeader& header = recorder::header();
  char text[64];
  if (size == 1 && header.rank >= 0) {
    const int n = std::snprintf(text, sizeof text, "[%d]", header.rank);
    return recorder::intern({text, static_cast<std::size_t>(n)});
  }
  if (size < 1 || size != header.world_size || rank != header.rank) return 0;
  constexpr std::size_t kLongestRank = 12;
  const std::size_t bytes = static_cast<std::size_t>(size) * kLongestRank + 2;
  const std::unique_ptr<char[]> all(new (std::nothrow) char[bytes]);
  if (all == nullptr) return 0;
  std::size_t used = 0;
  all[used++] = '[';
  for (std::int32_t i = 0; i < size; ++i) {
    used += static_cast<std::size_t>(std::snprintf(all.get() + used, bytes - used, i > 0 ? ", %d" : "%d", i));
  }
  all[used++] = ']';
  return recorder::intern({all.get(), used}, spool::kMaxText);
}

}  // namespace profshim::inject
