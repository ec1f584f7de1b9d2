#include "shared_state.h"

namespace profshim::device {

constinit SharedState shared;

void wake_device_thread() { shared.request_changed.notify_all(); }

CaptureRequest SharedRequest::load() const {
  CaptureRequest request;
  request.on = on.load(std::memory_order_acquire);
  request.again = again.load(std::memory_order_acquire);
  request.off_at = off_at.load(std::memory_order_relaxed);
  request.settle_before = settle_before.load(std::memory_order_relaxed);
  // Yield even if the other client has left since: that client has replaced our buffer callbacks.
  request.yield = owner.load(std::memory_order_acquire) != Owner::kUs ||
                  yields_requested.load(std::memory_order_acquire) != yields_done.load(std::memory_order_acquire);
  request.yielded_too_late = yielded_too_late.load(std::memory_order_acquire);
  request.foreign_clock = foreign_clock.load(std::memory_order_relaxed);
  request.finish = finish.load(std::memory_order_acquire);
  request.abrupt = abrupt.load(std::memory_order_relaxed);
  return request;
}

}  // namespace profshim::device
