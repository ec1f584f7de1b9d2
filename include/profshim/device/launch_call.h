// The rule that tells which call is a launch. The CUDA runtime launches through the driver, so CUPTI may report one
// launch twice: both records have the same correlation id. src/device drops the second record if it comes in time, and
// src/kineto chooses among those that the spool has.
#pragma once

#include "profshim/event.h"

namespace profshim {

/// Returns true if `inner` was made inside `outer`, by time. Both are kCudaApi of one thread.
constexpr bool is_made_inside(const Event& inner, const Event& outer) {
  return inner.begin >= outer.begin && inner.end <= outer.end;
}

/// Returns true if `call` is the launch rather than `other`, which has the same correlation id: the program made the
/// runtime's call.
constexpr bool is_launch_rather_than(const Event& call, const Event& other) {
  return call.api.is_runtime > other.api.is_runtime;
}

}  // namespace profshim
