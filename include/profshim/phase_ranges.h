// Ranges of phases that no API of the job shows, such as calls of a function. Call on the job's threads.
#pragma once

#include <cstdint>

#include "profshim/event.h"

namespace profshim::phase_ranges {

/// Begins a range of `phases` (session::phases_of()), and their windows. Returns null if no event is recorded: for a
/// tick, or if it is lost. `at`: 0 = now, here and below.
Event* begin(std::uint64_t phases, StringId name, Ticks at = 0);
/// `range`: from begin() or resume(), may be null.
void end(Event* range, std::uint64_t phases, Ticks at = 0);
/// Begins a range that ends with the calling thread.
void begin_life(std::uint64_t phases, StringId name);

/// A generator or coroutine gives way to its caller: the phase goes on, but not on this thread.
void suspend(Event* range);
Event* resume(std::uint64_t phases, StringId name);

/// Returns the innermost open range of this thread with these phases and name, or null.
Event* find_open(std::uint64_t phases, StringId name);

}  // namespace profshim::phase_ranges
