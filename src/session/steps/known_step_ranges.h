#pragma once

#include <string>
#include <vector>

#include "session/state.h"

namespace profshim::session {

std::vector<StepPattern> step_patterns(const Spec& spec);
/// Call before the mode has kNvtxSteps or kTorchSteps: hooks then call may_be_marker().
void set_marker_first_bytes(const State& state);

}  // namespace profshim::session
