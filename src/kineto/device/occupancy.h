// Occupancy by CUDA's rules (CUDA C programming guide, "Compute Capabilities"; cuda_occupancy.h).
#pragma once

#include <cstdint>
#include <string_view>

namespace profshim::kineto {

/// Values of deviceProperties; 0 = unknown.
struct DeviceLimits {
  std::int64_t major = 0, minor = 0, sms = 0, warp_size = 32;
  std::int64_t max_threads_per_block = 0, max_threads_per_sm = 0;
  std::int64_t registers_per_block = 0, registers_per_sm = 0;
  std::int64_t shared_per_block = 0, shared_per_block_optin = 0, shared_per_sm = 0;
};
DeviceLimits device_limits(std::string_view json);

struct KernelShape {
  std::int64_t threads_per_block = 0, registers_per_thread = 0, shared_per_block = 0;
};
/// Returns -1 if limits are unknown.
std::int64_t blocks_that_fit(const DeviceLimits& device, const KernelShape& kernel);
/// Returns Kineto's "est. achieved occupancy %" for an evenly spread grid, or -1.
std::int64_t achieved_occupancy_percent(const DeviceLimits& device, const KernelShape& kernel, double blocks_per_sm);

}  // namespace profshim::kineto
