// The place and size of the spool.
#pragma once

#include <string>

#include "state.h"

namespace profshim::session {

/// Creates the spool: a file in /dev/shm (or in limits.spool_folder), else anonymous memory, for a reason given in
/// State::why_no_file. Returns false and a reason if the job can spare no memory.
bool create_spool(State& state, std::string& why_not);
/// Interns the texts about the place of the spool and logs warnings about it. Once texts can be interned.
void report_spool_place(State& state);
/// Removes the spool's file and the link to it; the memory stays mapped.
void remove_spool(const State& state);

}  // namespace profshim::session
