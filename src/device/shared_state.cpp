#include "shared_state.h"

namespace profshim::device {

constinit SharedState shared;

void wake_thread() { shared.wishes_changed.ring(); }

Wishes wishes_now() {
  Wishes wishes;
  wishes.on = shared.wanted_on.load(std::memory_order_acquire);
  wishes.off_at = shared.wanted_off_at.load(std::memory_order_relaxed);
  wishes.settle_before = shared.wanted_settled.load(std::memory_order_relaxed);
  // One that could not be met in time is met now: what the other client has registered is not ours.
  wishes.yield =
      shared.owner.load(std::memory_order_acquire) != Owner::kUs ||
      shared.yields_asked.load(std::memory_order_acquire) != shared.yields_met.load(std::memory_order_acquire);
  wishes.yielded_too_late = shared.yielded_too_late.load(std::memory_order_acquire);
  wishes.foreign_clock = shared.foreign_clock.load(std::memory_order_relaxed);
  wishes.finish = shared.wanted_finish.load(std::memory_order_acquire);
  wishes.abrupt = shared.finish_abruptly.load(std::memory_order_relaxed);
  return wishes;
}

}  // namespace profshim::device
