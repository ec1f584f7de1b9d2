#pragma once

#include <cstddef>

#include "profshim/event.h"

namespace profshim {

/// Nanoseconds that an event costs the job; < 0 = unknown.
struct EventCosts {
  double of_layer[static_cast<std::size_t>(Layer::kCount)];
  double memory;  // of a kTorchMemory event
};

}  // namespace profshim
