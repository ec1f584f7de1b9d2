// Makes the text before a trace's first event.
#pragma once

#include <string>

#include "profshim/trace/writer.h"

namespace profshim {

/// Ends with the opening bracket of traceEvents.
std::string head_text(const TraceHeader& header);

}  // namespace profshim
