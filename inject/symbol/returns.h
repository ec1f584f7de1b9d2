// Sees a patched function return: its return address becomes that of a slot's own code, which reports the return and
// jumps to the true address. The slot's unwind rules lead exceptions, cancellations and debuggers to the true caller.
#pragma once

#include <cstdint>
#include <string>

#include "profshim/event.h"

namespace profshim::symbol {

/// Replaces the return address at `*return_address`. When the call ends, by a return or by unwinding, phases_end()
/// follows for `phases`. Returns false without a free slot. Call in the entry routine, on the job's thread.
bool watch_return(std::uintptr_t* return_address, std::uint64_t phases, StringId name);

/// Returns a reason if returns cannot be seen in this process, else "". Call before watch_return().
std::string why_no_returns();

}  // namespace profshim::symbol
