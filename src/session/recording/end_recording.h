#pragma once

#include "profshim/ending_signals.h"
#include "recording.h"

namespace profshim::session {

/// output.exit_seconds in nanoseconds.
std::int64_t exit_ns(const Plan& plan);
/// Longest wait without progress of the writer.
std::int64_t patience_ns(const Plan& plan, End how);
/// Runs on the thread that calls exit(), or else on the collector thread. Joins our threads only for End::kNormal.
void end_recording(Recording& recording, End how, const ending_signals::Blocked& blocked);
/// Ends the recording if a signal or Lifecycle::ask_to_end() asks for it; after a signal, also the process. Runs on the
/// collector thread.
void end_if_asked(Recording& recording);

}  // namespace profshim::session
