// steps.source = "collective": calls of one hooked function are step markers. MPI and NCCL hooks call this on the
// thread of the call; it neither allocates nor locks.
#pragma once

#include <cstdint>
#include <optional>

#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::inject {

/// Call this before the real function. Returns true if the caller must report a step boundary after the real function
/// (steps.edge = "end"). Reports a boundary at the begin of the call itself and then updates `mode`, since the step may
/// have opened or closed a window.
inline bool steps_at_end(HookId hook, std::uint32_t& mode) {
  if (__builtin_expect((mode & recorder::kHookSteps) == 0, 1) || !session::is_step_hook(hook)) return false;
  if (session::spec()->steps.edge_end) return true;
  session::step_boundary(ticks(), std::nullopt, 0);
  mode = recorder::mode();
  return false;
}

}  // namespace profshim::inject
