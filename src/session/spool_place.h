// The place and size of the spool.
#pragma once

#include <string>

#include "state.h"

namespace profshim::session {

/// In /dev/shm or limits.spool_folder, else in anonymous memory. Returns false if the job can spare no memory.
bool create_spool(State& state, std::string& why_not);
/// Call it while texts can be interned.
void report_spool_place(State& state);
void remove_spool(const State& state);

}  // namespace profshim::session
