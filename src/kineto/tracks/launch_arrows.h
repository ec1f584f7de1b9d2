// Arrows ("ac2g" flow events) from a CUDA call to the device activity that it launched.
#pragma once

#include <cstdint>

#include "profshim/trace/writer.h"

namespace profshim::kineto {

/// Call directly after writing `call`.
void write_arrow_start(TraceWriter& out, const TraceEvent& call, std::uint32_t correlation);
/// Call directly after writing `activity`. Requires write_arrow_start() of the same `correlation`.
void write_arrow_end(TraceWriter& out, TraceEvent activity, std::uint32_t correlation);

}  // namespace profshim::kineto
