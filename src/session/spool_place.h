// Where the spool lies, and how large it is.
#pragma once

#include <string>

#include "state.h"

namespace profshim::session {

/// A file in /dev/shm (or in limits.spool_folder), else memory of the process alone: State::why_no_file says why. False
/// and a reason when the job can spare no memory.
bool create_spool(State& state, std::string& why_not);
/// Texts of the trace and lines of the log about it; once texts can be interned.
void say_where_spool_lies(State& state);
/// The spool's name and the link to it; the memory stays mapped.
void remove_spool(const State& state);

}  // namespace profshim::session
