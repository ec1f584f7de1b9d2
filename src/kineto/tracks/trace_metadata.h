#pragma once

#include <string>
#include <vector>

#include "kineto/left_out.h"
#include "kineto/window/window_events.h"

namespace profshim::kineto {

/// `devices`: JSON objects for deviceProperties. `left_out`: null = nothing is.
TraceHeader trace_metadata(const WindowEvents& window, const WindowTraceOptions& options,
                           const std::vector<std::string>& devices, const LeftOut* left_out);

}  // namespace profshim::kineto
