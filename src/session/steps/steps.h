// Step boundaries take no lock and allocate memory only for new kernel names and for counters that cannot be opened,
// except in the functions of call_when_arming().
#pragma once

#include "session/state.h"

namespace profshim::session {

/// True on the step thread: the first thread that makes a boundary. Counts boundaries of other threads.
bool on_step_thread(State& state);
struct Boundary {
  Ticks at = 0;
  std::int64_t at_ns = 0;  // monotonic_ns()
  StringId marker = 0;
  bool is_now = false;  // false: found later, in the recorded events
};
/// Opens and closes windows at the boundary. Then call arm_for_step() once.
void begin_step(State& state, const StepCounter::Step& step, const Boundary& boundary);
/// Switches the recording on or off, as the present step wants.
void arm_for_step(State& state);
/// From now on, the events of `rule` make the steps.
void set_rule(State& state, const StepRule* rule);
/// Begins step 0 if markers end the steps.
void begin_first_step(State& state, Ticks at);

}  // namespace profshim::session
