#pragma once

#include <cstdint>

#include "profshim/event.h"

namespace profshim {

/// CUPTI's correlation ids count up and wrap at 2^32. The result is wrong for ids more than 2^31 apart: to sort, use
/// CorrelationOrder.
constexpr bool correlation_is_before(std::uint32_t one, std::uint32_t other) {
  return static_cast<std::int32_t>(one - other) < 0;
}

/// Sorts ids within 2^31 of `middle` by call time. Other ids (damaged records) have a wrong but consistent order, which
/// std::sort needs.
class CorrelationOrder {
 public:
  explicit constexpr CorrelationOrder(std::uint32_t middle) : middle_(middle) {}
  constexpr bool operator()(std::uint32_t one, std::uint32_t other) const {
    return static_cast<std::int32_t>(one - middle_) < static_cast<std::int32_t>(other - middle_);
  }

 private:
  std::uint32_t middle_;
};

// The CUDA runtime launches through the driver, so CUPTI may report two API calls with one correlation id.

/// For kCudaApi events of one thread.
constexpr bool is_made_inside(const Event& inner, const Event& outer) {
  return inner.begin >= outer.begin && inner.end <= outer.end;
}

/// Prefers the runtime call. For calls with one correlation id.
constexpr bool is_launch_rather_than(const Event& call, const Event& other) {
  return call.api.is_runtime > other.api.is_runtime;
}

}  // namespace profshim
