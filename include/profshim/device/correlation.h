#pragma once

#include <cstdint>

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

}  // namespace profshim
