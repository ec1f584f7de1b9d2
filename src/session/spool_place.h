// Chooses the place and size of the spool.
#pragma once

#include <string>

#include "state.h"

namespace profshim::session {

/// Creates it in /dev/shm or limits.spool_folder, else in anonymous memory. Returns false if the job can spare none.
bool create_spool(State& state, std::string& why_not);
/// Reports a spool that is small or not a file. Call it while texts can be interned.
void report_spool_place(State& state);
void remove_spool(const State& state);

}  // namespace profshim::session
