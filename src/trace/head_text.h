// The text of a trace file in front of its first event.
#pragma once

#include <string>

#include "profshim/trace/writer.h"

namespace profshim {

/// Returns the head of the file up to and including the bracket that opens traceEvents.
std::string head_text(const TraceHeader& header);

}  // namespace profshim
