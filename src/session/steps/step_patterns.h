// Which ranges make steps, by the spec.
#pragma once

#include <string>
#include <vector>

#include "session/state.h"

namespace profshim::session {

std::vector<StepPattern> step_patterns(const Spec& spec);
void set_marker_first_bytes(const State& state);

}  // namespace profshim::session
