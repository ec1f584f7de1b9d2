// The range patterns that make steps.
#pragma once

#include <string>
#include <vector>

#include "session/state.h"

namespace profshim::session {

std::vector<StepPattern> step_patterns(const Spec& spec);
/// Stores the first bytes of the patterns. Call it before the mode has kNvtxSteps or kTorchSteps: then hooks read them.
void set_marker_first_bytes(const State& state);

}  // namespace profshim::session
