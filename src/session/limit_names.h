#pragma once

#include <cstddef>

#include "profshim/memory_room.h"
#include "profshim/recorder.h"

namespace profshim::session {

/// Texts for windows that a limit closes. Interned when the recording begins: at its end, interning no longer works.
struct LimitNames {
  StringId time = 0, size = 0, marks = 0, device = 0, phase = 0;
  StringId by_bound[recorder::kBounds] = {};

  void intern() {
    time = recorder::intern("limits.window_seconds");
    size = recorder::intern("limits.trace_size");
    device = recorder::intern("CUPTI ran out of buffers");
    marks = recorder::intern("too many steps in one window");
    phase = recorder::intern("phase.max_seconds");
    for (std::size_t i = 0; i < recorder::kBounds; ++i) {
      by_bound[i] = recorder::intern(recorder::reason_of(static_cast<recorder::Bound>(i)));
    }
  }
  StringId of_bound(recorder::Bound bound) const { return by_bound[static_cast<std::size_t>(bound)]; }
};

}  // namespace profshim::session
