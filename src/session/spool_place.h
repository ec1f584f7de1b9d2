#pragma once

#include <string>

#include "state.h"

namespace profshim::session {

/// Uses limits.spool_folder or /dev/shm, else anonymous memory. Returns false if the job can spare no memory.
bool create_spool(State& state, std::string& why_not);
/// Reports a spool that is small or not a file. Needs recorder::intern().
void report_spool_place(State& state);
void remove_spool(const State& state);

}  // namespace profshim::session
