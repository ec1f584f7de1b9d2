#pragma once

#include <cstddef>

#include "profshim/event.h"

namespace profshim {

/// CPU use while a window was open, in microseconds. All but `measured_us` are sums over threads or CPUs.
struct CpuUse {
  double measured_us = 0;  // time between the readings near begin and end of the window
  double waited_us = 0;    // by the job's threads: runnable, but not running
  double process_us = 0;
  double machine_us = 0;  // CPU time of all processes
  double stolen_us = 0;   // taken from this virtual machine by its host
  int cpus = 0;
};

/// Nanoseconds that an event costs the job; < 0 = unknown.
struct EventCosts {
  double of_layer[static_cast<std::size_t>(Layer::kCount)];
  double memory;  // of a kTorchMemory event
};

}  // namespace profshim
