// Occupancy of a multiprocessor by a kernel, by CUDA's rules: registers, shared memory, warps and blocks per compute
// capability (CUDA C programming guide, "Compute Capabilities"; the same rules as cuda_occupancy.h).
#pragma once

#include <cstdint>
#include <string_view>

namespace profshim::kineto {

/// Limits of a GPU from deviceProperties. 0 = unknown.
struct DeviceLimits {
  std::int64_t major = 0, minor = 0, sms = 0, warp_size = 32;
  std::int64_t max_threads_per_block = 0, max_threads_per_sm = 0;
  std::int64_t registers_per_block = 0, registers_per_sm = 0;
  std::int64_t shared_per_block = 0, shared_per_block_optin = 0, shared_per_sm = 0;
};
/// Reads the JSON object of a GPU in deviceProperties.
DeviceLimits device_limits(std::string_view json);

struct KernelShape {
  std::int64_t threads_per_block = 0, registers_per_thread = 0, shared_per_block = 0;
};
/// Returns the number of blocks of this kernel that fit on one multiprocessor at a time; -1 if the limits are unknown.
std::int64_t blocks_that_fit(const DeviceLimits& device, const KernelShape& kernel);
/// Returns Kineto's "est. achieved occupancy %": the share of a multiprocessor's threads that the kernel uses if its
/// grid is spread evenly; -1 if the limits are unknown.
std::int64_t achieved_occupancy_percent(const DeviceLimits& device, const KernelShape& kernel, double blocks_per_sm);

}  // namespace profshim::kineto
