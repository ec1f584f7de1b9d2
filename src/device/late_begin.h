// Windows that began before CUPTI was on: their traces say so, and by how much.
#pragma once

#include "source.h"

namespace profshim::device {

/// Adds the problem to the traces. The window is kept all the same: other layers were recorded. On the thread that
/// began it, since the window may be over and written before CUPTI is on.
void say_late_begin();
/// After the device thread has served CUPTI: `was_on` before, `began_ns` is when a window began since (0 = none).
void note_late_begins(Source& source, bool was_on, std::int64_t began_ns);

}  // namespace profshim::device
