// The patterns of the ranges that make steps, by the spec.
#pragma once

#include <string>
#include <vector>

#include "session/state.h"

namespace profshim::session {

std::vector<StepPattern> step_patterns(const Spec& spec);
/// Fills detail::marker_first_bytes. Before the mode has kNvtxSteps or kTorchSteps: no hook reads it earlier.
void set_marker_first_bytes(const State& state);

}  // namespace profshim::session
