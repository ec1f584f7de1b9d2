#pragma once

#include <cstdint>

#include "profshim/recorder_control.h"

namespace profshim::recorder {

/// Byte offsets in the spool.
struct Layout {
  std::uint64_t threads, arena, definitions, windows, marks, counters, anchors, pending, chunks, total;
};

Layout lay_out(const SpoolSize& size);

}  // namespace profshim::recorder
