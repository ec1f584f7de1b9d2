#pragma once

#include <vector>

#include "profshim/event.h"

namespace profshim::kineto {

/// True for a thread on which PyTorch runs the backward passes of a device: another thread has begun them, and waits
/// for them. All of PyTorch's events there lie in backward functions.
bool runs_only_backward(const std::vector<const Event*>& events);

}  // namespace profshim::kineto
