// The order of CUPTI's correlation ids.
#pragma once

#include <cstdint>

namespace profshim {

/// Returns true if the API call with id `one` came before `other`. Ids count up over the life of the process and wrap
/// at 2^32. Wrong for ids more than 2^31 apart: to sort, use CorrelationOrder.
constexpr bool correlation_is_before(std::uint32_t one, std::uint32_t other) {
  return static_cast<std::int32_t>(one - other) < 0;
}

/// Sorts correlation ids by call time, if they are within 2^31 of `middle`. Others are in a wrong but consistent order:
/// damaged records cannot harm std::sort.
class CorrelationOrder {
 public:
  explicit constexpr CorrelationOrder(std::uint32_t middle) : middle_(middle) {}
  constexpr bool operator()(std::uint32_t one, std::uint32_t other) const {
    return static_cast<std::int32_t>(one - middle_) < static_cast<std::int32_t>(other - middle_);
  }

 private:
  std::uint32_t middle_;
};

}  // namespace profshim
