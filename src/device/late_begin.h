// Reports windows that began before CUPTI was on, and how late CUPTI was.
#pragma once

#include "cupti_client.h"

namespace profshim::device {

/// Adds the problem to the traces. The window is still written: other layers were recorded. Runs on the thread that
/// began the window, since the window may end and be written before CUPTI is on.
void report_late_begin();
/// Checks for late begins after a round of the device thread. `was_on`: CUPTI was on before the round. `began_ns`: when
/// a window began since the last round; 0 = none.
void note_late_begins(CuptiClient& client, bool was_on, std::int64_t began_ns);

}  // namespace profshim::device
