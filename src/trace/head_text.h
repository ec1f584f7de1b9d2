#pragma once

#include <string>

#include "profshim/trace/writer.h"

namespace profshim {

/// The text ends with the opening bracket of traceEvents.
std::string head_text(const TraceHeader& header);

}  // namespace profshim
