#pragma once

#include "session/state.h"

namespace profshim::session {

/// Runs on the step thread.
void close_by_schedule(State& state, Ticks at, std::uint64_t mark);
/// Runs on the collector or step thread.
void close_by_limit(State& state, Ticks end, StringId limit);
void close_at_exit(State& state, Ticks now);
/// True while events are recorded only to find the steps.
bool only_searches(const State& state);
/// Switches CUPTI on, and calls the functions of call_when_arming().
void arm_others(State& state, Ticks window_begin);
/// Switches the recording off, unless the steps or a phase want it. `often`: it will be on again soon, and so on, so
/// that the functions of call_when_arming() are not called.
void disarm(State& state, Ticks at, bool is_near, bool often = false);
/// True if a window opens soon after `step`. `step_ns`: time of one step; 0 = unknown.
bool window_is_near(const State& state, std::int64_t step, std::int64_t step_ns);
void open_window(State& state, Ticks begin, std::uint64_t first_mark);
/// True if limits.total_traces is reached. Without end if old traces are removed instead.
bool has_all_traces(const State& state);
/// Begin of the oldest events that an unwritten window or the search for steps needs; 0 = none.
Ticks oldest_needed(const State& state);
bool window_waits();

}  // namespace profshim::session
