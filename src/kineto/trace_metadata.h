// The metadata that stands before the events of a trace: rank, process groups, devices, and our "profshim" object.
#pragma once

#include <string>
#include <vector>

#include "window_events.h"

namespace profshim::kineto {

/// `devices`: elements of deviceProperties, each a JSON object.
TraceHeader trace_metadata(const WindowEvents& window, const WindowTraceOptions& options,
                           const std::vector<std::string>& devices);

}  // namespace profshim::kineto
