#pragma once

#include "cupti_client.h"

namespace profshim::device {

void report_late_begin();
/// Call after each Capture::serve(). `was_on`: CUPTI was on before. `began_ns`: begin of a new window; 0 = none.
void note_late_begins(CuptiClient& client, bool was_on, std::int64_t began_ns);

}  // namespace profshim::device
