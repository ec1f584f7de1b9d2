#pragma once

#include <string>
#include <vector>

#include "window_events.h"

namespace profshim::kineto {

/// `devices`: JSON objects for deviceProperties.
TraceHeader trace_metadata(const WindowEvents& window, const WindowTraceOptions& options,
                           const std::vector<std::string>& devices);

}  // namespace profshim::kineto
