#pragma once

#include <cstddef>

#include "profshim/memory_room.h"
#include "profshim/recorder.h"

namespace profshim::session {

/// Texts for windows that a limit closes. Interned when the recording begins: at its end, interning no longer works.
struct LimitNames {
  StringId time = 0, size = 0, marks = 0, device = 0, phase = 0;
  StringId by_bound[recorder::kBounds] = {};

  void intern();
  StringId of_bound(recorder::Bound bound) const { return by_bound[static_cast<std::size_t>(bound)]; }
};

}  // namespace profshim::session
