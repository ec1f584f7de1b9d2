#pragma once

#include <cstdint>
#include <optional>

#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::inject {

/// If calls make steps: call before the real function. Makes a step boundary, or returns true if the caller
/// must make it after that function (steps.edge = "end").
inline bool steps_at_end(HookId hook, std::uint32_t& mode) {
  if (__builtin_expect((mode & recorder::kHookSteps) == 0, 1) || !session::is_step_hook(hook)) return false;
  if (session::steps_end_with_marker()) return true;
  session::step_boundary(ticks(), std::nullopt, 0);
  mode = recorder::mode();
  return false;
}

}  // namespace profshim::inject
