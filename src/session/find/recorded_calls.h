#pragma once

#include <cstdint>

#include "profshim/loop.h"
#include "profshim/spool/view.h"

namespace profshim::session {

/// The calls of the thread that most likely makes the steps.
struct RecordedCalls {
  loop::Sequence sequence;
  std::int32_t tid = 0;
  std::int64_t elapsed_ns = 0;  // since the first call
};

/// Reads events that began at `since` or later. The caller keeps their chunks from being freed.
RecordedCalls read_calls(const spool::View& view, Ticks since, bool only_torch);

}  // namespace profshim::session
