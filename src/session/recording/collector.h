#pragma once

namespace profshim::session {

/// The body of the collector thread: frees chunks, checks the limits, takes clock anchors, makes the steps of source
/// "time", and ends the recording if a signal or a call of the job asks for it. `recording`: a Recording.
void* run_collector(void* recording);

}  // namespace profshim::session
