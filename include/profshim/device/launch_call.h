// The CUDA runtime launches through the driver, so CUPTI may report two API calls with one correlation id.
#pragma once

#include "profshim/event.h"

namespace profshim {

/// For kCudaApi events of one thread.
constexpr bool is_made_inside(const Event& inner, const Event& outer) {
  return inner.begin >= outer.begin && inner.end <= outer.end;
}

/// Prefers the runtime call. For calls with one correlation id.
constexpr bool is_launch_rather_than(const Event& call, const Event& other) {
  return call.api.is_runtime > other.api.is_runtime;
}

}  // namespace profshim
