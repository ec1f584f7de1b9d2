#include "limit_names.h"

namespace profshim::session {

void LimitNames::intern() {
  time = recorder::intern("limits.window_seconds");
  size = recorder::intern("limits.trace_size");
  device = recorder::intern("CUPTI ran out of buffers");
  marks = recorder::intern("too many steps in one window");
  phase = recorder::intern("phase.max_seconds");
  for (std::size_t i = 0; i < recorder::kBounds; ++i) {
    by_bound[i] = recorder::intern(recorder::reason_of(static_cast<recorder::Bound>(i)));
  }
}

}  // namespace profshim::session
