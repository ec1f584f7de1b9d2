#include "source.h"

#include "profshim/recorder_control.h"

namespace profshim::device {

Source* live() {
  return shared.phase.load(std::memory_order_acquire) == Phase::kRunning ? shared.source.load(std::memory_order_acquire)
                                                                         : nullptr;
}

bool is_on_or_never(const Source& source) {
  const Capture::State state = source.state.load(std::memory_order_acquire);
  return state == Capture::State::kOn || state == Capture::State::kFinished || source.capture.refused() ||
         (state == Capture::State::kYielded && shared.owner.load(std::memory_order_relaxed) != Owner::kUs);
}

void start_callbacks(Source& source) {
  const std::string why_not = source.callbacks.start();
  if (why_not.empty()) return;
  log::line(LogLevel::kWarn, "no steps are seen from the GPU: %s", why_not.c_str());
  recorder::problem("steps", "no steps were seen from the GPU: " + why_not);
}

}  // namespace profshim::device
