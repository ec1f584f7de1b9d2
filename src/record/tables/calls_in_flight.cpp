#include <sys/mman.h>

#include "profshim/recorder.h"
#include "record/free_list.h"
#include "record/recorder_state.h"
#include "tables.h"

namespace profshim::recorder {

using spool::kNoChunk;
using spool::Thread;

namespace {

constinit std::atomic<std::uint64_t> free_pending{kNoChunk};
constexpr auto kPendingNext = [](std::uint32_t i) -> std::atomic<std::uint32_t>& { return state.pending_next[i]; };

}  // namespace

namespace detail {

void count_lost_open_call() { state.header->open_calls_lost.fetch_add(1, std::memory_order_relaxed); }

// Ends, as unfinished, calls that longjmp or an exception left: their real end is unknown.
void close_left_calls(Thread& t, Layer layer) {
  for (std::uint32_t i = t.open_calls; i-- > 0;) {
    Event& call = t.open[i];
    if (call.begin == 0 || layer == Layer::kNone || hook_layer(call.hook) != layer) continue;
    call.flags |= kUnfinished;
    end(t, call);
  }
  t.outermost[static_cast<int>(layer)] = 0;
}

}  // namespace detail

bool create_pending_slots(std::uint32_t slots) {
  void* const links =
      mmap(nullptr, sizeof(std::uint32_t) * slots, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (links == MAP_FAILED) return false;
  state.pending_next = static_cast<std::atomic<std::uint32_t>*>(links);
  free_pending = kNoChunk;
  for (std::uint32_t i = slots; i-- > 0;) push(free_pending, i, kPendingNext);
  return true;
}

Event* take_pending() {
  if (mode() == 0) return nullptr;
  const std::uint32_t i = pop(free_pending, kPendingNext);
  if (i == kNoChunk) {
    state.header->pending_lost.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  return &state.pending[i];
}

void release_pending(Event* slot) {
  if (slot == nullptr || mode() == 0) return;
  slot->begin = 0;
  push(free_pending, static_cast<std::uint32_t>(slot - state.pending), kPendingNext);
}

}  // namespace profshim::recorder
