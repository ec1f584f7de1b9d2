#include "cupti_client.h"

#include "profshim/recorder_control.h"

namespace profshim::device {

CuptiClient* running_client() {
  return shared.phase.load(std::memory_order_acquire) == Phase::kRunning ? shared.client.load(std::memory_order_acquire)
                                                                         : nullptr;
}

bool is_on_or_never(const CuptiClient& client) {
  const Capture::State state = client.state.load(std::memory_order_acquire);
  return state == Capture::State::kOn || state == Capture::State::kFinished || client.capture.refused() ||
         (state == Capture::State::kYielded && shared.request.owner.load(std::memory_order_relaxed) != Owner::kUs);
}

void start_callbacks(CuptiClient& client) {
  const std::string why_not = client.callbacks.start();
  if (why_not.empty()) return;
  log::line(LogLevel::kWarn, "steps cannot be taken from CUDA calls: %s", why_not.c_str());
  recorder::problem("steps", "CUDA calls made no steps: " + why_not);
}

}  // namespace profshim::device
