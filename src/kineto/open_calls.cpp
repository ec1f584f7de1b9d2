#include "open_calls.h"

#include <cstring>

namespace profshim::kineto {
namespace {

// The recording thread may be writing `source`: the copy is valid only if `begin` stayed the same.
__attribute__((no_sanitize("thread"))) bool copy_open(const Event& source, Ticks begin, Ticks until, Event& copy) {
  const volatile Ticks* const at = &source.begin;
  const Ticks first = *at;
  if (first < begin || first >= until || first == 0) return false;
  std::memcpy(static_cast<void*>(&copy), &source, sizeof copy);
  return *at == first && copy.begin == first && copy.hook != HookId::kNone;
}

bool is_same_call(const Event& open, const Event& ended) {
  constexpr std::uint8_t kKnownAtTheEnd = kContinues | kUnfinished | kFailed;
  return open.hook == ended.hook && ((open.flags ^ ended.flags) & ~kKnownAtTheEnd) == 0 &&
         ((open.flags & kAsyncSlice) == 0 || open.mpi.request == ended.mpi.request);
}

}  // namespace

OpenCalls::OpenCalls(const spool::View& view, Ticks begin, Ticks until) : begin_(begin), until_(until) {
  for (std::uint32_t i = 0; i < view.header().thread_count; ++i) {
    const spool::Thread& t = view.thread(i);
    if (t.slot.load(std::memory_order_acquire) != spool::ThreadSlot::kLive) continue;
    const std::int64_t tid = t.tid.load(std::memory_order_relaxed);
    for (const Event& source : t.open) add(tid, source);
  }
  for (std::uint32_t i = 0; i < view.header().pending_count; ++i) add(kAnyThread, view.pending(i));
}

void OpenCalls::add(std::int64_t tid, const Event& source) {
  Event copy;
  if (copy_open(source, begin_, until_, copy)) calls_.emplace(std::pair{tid, copy.begin}, copy);
}

void OpenCalls::drop_ended(std::int64_t tid, const std::vector<const Event*>& events) {
  for (const Event* e : events) {
    const bool on_any = (e->flags & (kAsyncSlice | kStartEnd)) != 0;
    const auto [first, last] = calls_.equal_range({on_any ? kAnyThread : tid, e->begin});
    for (auto at = first; at != last;) at = is_same_call(at->second, *e) ? calls_.erase(at) : std::next(at);
  }
}

}  // namespace profshim::kineto
