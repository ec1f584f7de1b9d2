#pragma once

#include <signal.h>

#include <string>
#include <vector>

#include "profshim/ending_signals.h"
#include "recording.h"

namespace profshim::session {

/// Returns null if this process does not record.
Recording* begin_recording(const Rank& mpi_rank, const sigset_t& job_signals);

/// The body of the collector thread: frees chunks, checks the limits, takes clock anchors, makes the steps of source
/// "time", and ends the recording if a signal or a call of the job asks for it. `recording`: a Recording.
void* run_collector(void* recording);

/// output.exit_seconds in nanoseconds.
std::int64_t exit_ns(const Plan& plan);
/// Longest wait without progress of the writer.
std::int64_t patience_ns(const Plan& plan, End how);
/// Runs on the thread that calls exit(), or else on the collector thread. Joins our threads only for End::kNormal.
void end_recording(Recording& recording, End how, const ending_signals::Blocked& blocked);
/// Ends the recording if a signal or Lifecycle::ask_to_end() asks for it; after a signal, also the process. Runs on the
/// collector thread.
void end_if_asked(Recording& recording);

/// Logs the last lines of the job. Call after the writer has ended, before the claim on the rank is released.
void log_outcome(const Recording& recording);

struct UnseenCalls {
  std::string matter, sentence;
};
/// The sentences that report_unseen_calls() was told.
std::vector<UnseenCalls> unseen_calls();

}  // namespace profshim::session
