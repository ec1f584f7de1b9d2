// Windows open and close, and what is switched on for them.
#pragma once

#include "session/state.h"

namespace profshim::session {

/// Closes the open window at a boundary of the schedule; step thread.
void close_by_schedule(State& state, Ticks at, std::uint64_t mark);
/// Closes the open window because of a limit; collector thread.
void close_by_limit(State& state, Ticks end, StringId limit);
/// At the end of the process: the open window, if any.
void close_at_exit(State& state, Ticks now);
/// What is switched on for the recording alone: CUPTI, and what inject/ has asked for. `window_begin`: see
/// device::arm().
void arm_others(State& state, Ticks window_begin);
void disarm_others(State& state, Ticks at, bool is_near);
/// Does a window come soon after `step`, which takes `step_ns` as far as is known (0 = it is not)?
bool window_is_near(const State& state, std::int64_t step, std::int64_t step_ns);
/// Opens a window that no step begins (source none) or the boundary's one.
void open_window(State& state, Ticks begin, std::uint64_t first_mark);
/// Begin of the oldest window that has no file yet; 0 = none.
Ticks oldest_needed();
/// Is a window closed and has no file yet?
bool window_waits();

}  // namespace profshim::session
