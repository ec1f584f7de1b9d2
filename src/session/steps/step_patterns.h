// The range patterns that make steps.
#pragma once

#include <string>
#include <vector>

#include "session/state.h"

namespace profshim::session {

std::vector<StepPattern> step_patterns(const Spec& spec);
/// Call it before the mode has kNvtxSteps or kTorchSteps: hooks read the bytes from then on.
void set_marker_first_bytes(const State& state);

}  // namespace profshim::session
