#pragma once

#include "kineto/window/window_events.h"
#include "profshim/trace/writer.h"

namespace profshim::kineto {

/// Writes the samples of [system] as counters of the process.
void write_counters(TraceWriter& out, const WindowEvents& window);

}  // namespace profshim::kineto
