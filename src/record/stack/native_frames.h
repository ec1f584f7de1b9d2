// The native frames of the calling thread, by libunwind. It is opened when it is wanted and in a scope of its own: it
// exports the functions by which C++ exceptions unwind, and the job's must stay with libgcc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace profshim::recorder::native_frames {

/// Cold. False and a reason where there is no libunwind.
bool prepare(std::string& why_not);

/// Return addresses from the job's innermost frame on, ours left out, at most `most`; returns how many. Takes no lock
/// and allocates nothing for code that it has seen before.
std::size_t take(std::uint64_t* addresses, std::size_t most);

/// See call_stack::define_modules().
void define_modules();

}  // namespace profshim::recorder::native_frames
