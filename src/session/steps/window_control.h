// Opens and closes windows, and switches on the parts that record only then.
#pragma once

#include "session/state.h"

namespace profshim::session {

/// Closes the open window at step mark `mark`, by the schedule. Step thread.
void close_by_schedule(State& state, Ticks at, std::uint64_t mark);
/// Closes the open window because of a limit. Collector thread, and step thread.
void close_by_limit(State& state, Ticks end, StringId limit);
/// Closes the open window, if any, at the end of the process.
void close_at_exit(State& state, Ticks now);
/// Switch CUPTI on and off, and call the function of call_when_arming(). `window_begin`: see device::arm(). `is_near`:
/// the next window is near, see device::disarm().
void arm_others(State& state, Ticks window_begin);
void disarm_others(State& state, Ticks at, bool is_near);
/// Returns true if a window begins soon after `step`. `step_ns`: duration of a step; 0 = not known.
bool window_is_near(const State& state, std::int64_t step, std::int64_t step_ns);
/// Opens a window at `begin`. `first_mark`: number of the step mark that begins it; kNoMark for source "none".
void open_window(State& state, Ticks begin, std::uint64_t first_mark);
/// Returns the begin of the oldest window without a file; 0 = none.
Ticks oldest_needed();
/// Returns true if a closed window has no file yet.
bool window_waits();

}  // namespace profshim::session
