// Reports windows that began before CUPTI was on.
#pragma once

#include "cupti_client.h"

namespace profshim::device {

/// Reports the problem at once: the window may end before CUPTI is on.
void report_late_begin();
/// Called after each round of the device thread. `was_on`: CUPTI was on before. `began_ns`: begin of a new window;
/// 0 = none.
void note_late_begins(CuptiClient& client, bool was_on, std::int64_t began_ns);

}  // namespace profshim::device
