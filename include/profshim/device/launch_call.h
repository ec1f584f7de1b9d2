// Tells which call is a launch. The CUDA runtime launches through the driver, so CUPTI may report a launch twice, with
// one correlation id. src/device drops the second record if it comes in time; src/kineto chooses among those in the
// spool.
#pragma once

#include "profshim/event.h"

namespace profshim {

/// By time. Both are kCudaApi of one thread.
constexpr bool is_made_inside(const Event& inner, const Event& outer) {
  return inner.begin >= outer.begin && inner.end <= outer.end;
}

/// The calls have the same correlation id: the program made the runtime's call.
constexpr bool is_launch_rather_than(const Event& call, const Event& other) {
  return call.api.is_runtime > other.api.is_runtime;
}

}  // namespace profshim
