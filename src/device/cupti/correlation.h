// The order of CUPTI's correlation ids.
#pragma once

#include <cstdint>

namespace profshim::device {

/// Returns true if the API call with correlation id `one` was made before the call with `other`. Correlation ids count
/// up over the life of the process and wrap at 2^32.
constexpr bool correlation_is_before(std::uint32_t one, std::uint32_t other) {
  return static_cast<std::int32_t>(one - other) < 0;
}

}  // namespace profshim::device
