// steps.source = "collective". Called on the thread of the hooked call; neither allocates nor locks.
#pragma once

#include <cstdint>
#include <optional>

#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::inject {

/// Call before the real function. Returns true if a step boundary is due after it. A boundary now may open or close a
/// window, hence `mode` is updated.
inline bool steps_at_end(HookId hook, std::uint32_t& mode) {
  if (__builtin_expect((mode & recorder::kHookSteps) == 0, 1) || !session::is_step_hook(hook)) return false;
  if (session::spec()->steps.edge_end) return true;
  session::step_boundary(ticks(), std::nullopt, 0);
  mode = recorder::mode();
  return false;
}

}  // namespace profshim::inject
