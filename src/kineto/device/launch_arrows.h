// Arrows ("ac2g" flow events) from a CUDA call to the device activity that it launched.
#pragma once

#include <cstdint>

#include "profshim/trace/writer.h"

namespace profshim::kineto {

/// Call directly after writing `call`, the slice of the CUDA call.
void write_arrow_start(TraceWriter& out, const TraceEvent& call, std::uint32_t correlation);
/// Call directly after writing `activity`, the slice of the device activity. Only for a call whose arrow was started.
void write_arrow_end(TraceWriter& out, TraceEvent activity, std::uint32_t correlation);

}  // namespace profshim::kineto
