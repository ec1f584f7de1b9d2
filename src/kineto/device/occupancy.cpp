#include "occupancy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "profshim/json.h"
#include "profshim/trace/reader.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int32_t>::max();
// Higher values (damaged spool) are ignored, so that products do not overflow.
constexpr std::int64_t kNoDevice = 1 << 22;
constexpr std::int64_t kRegisterUnit = 256;  // registers; allocation unit per warp

std::int64_t divided_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }
std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return divided_up(value, unit) * unit; }

std::int64_t most_blocks_per_sm(const DeviceLimits& d) {
  switch (d.major) {
    case 5:
    case 6:
    case 9:
      return 32;
    case 7:
      return d.minor == 5 ? 16 : 32;
    case 8:
      return d.minor == 0 ? 32 : d.minor == 9 ? 24 : 16;
    case 10:
      return d.minor == 1 ? 24 : 32;
    case 11:
      return d.minor == 0 ? 24 : 32;
    case 12:
      return 24;
    default:
      return -1;
  }
}

std::int64_t sub_partitions(const DeviceLimits& d) { return d.major == 6 && d.minor == 0 ? 2 : 4; }

std::int64_t limit_by_registers(const DeviceLimits& d, const KernelShape& k, std::int64_t warps) {
  const std::int64_t per_warp = rounded_up(k.registers_per_thread * d.warp_size, kRegisterUnit);
  if (per_warp == 0) return kNoLimit;
  // Each sub-partition counts as if it got an equal share of the warps.
  if (per_warp * rounded_up(warps, sub_partitions(d)) > d.registers_per_block) return 0;
  const std::int64_t warps_per_partition = d.registers_per_sm / sub_partitions(d) / per_warp;
  return warps_per_partition * sub_partitions(d) / warps;
}

// A kernel above the default limit has opted in to more shared memory. Kineto reports 0 % for such kernels.
std::int64_t limit_by_shared_memory(const DeviceLimits& d, const KernelShape& k) {
  const std::int64_t reserved = d.major >= 8 ? 1024 : 0;  // bytes per block that the driver reserves
  const std::int64_t unit = d.major >= 8 ? 128 : 256;
  const std::int64_t taken = rounded_up(k.shared_per_block + reserved, unit);
  if (taken > std::max(d.shared_per_block, d.shared_per_block_optin) + reserved) return 0;
  return taken == 0 ? kNoLimit : d.shared_per_sm / taken;
}

bool known(const DeviceLimits& d) {
  return most_blocks_per_sm(d) > 0 && d.warp_size > 0 && d.max_threads_per_sm > 0 && d.registers_per_block > 0 &&
         d.registers_per_sm > 0 && d.shared_per_block > 0 && d.shared_per_sm > 0;
}

}  // namespace

DeviceLimits device_limits(std::string_view json) {
  DeviceLimits d;
  const std::pair<std::string_view, std::int64_t*> fields[] = {
      {schema::device::kComputeMajor, &d.major},
      {schema::device::kComputeMinor, &d.minor},
      {schema::device::kSmCount, &d.sms},
      {schema::device::kWarpSize, &d.warp_size},
      {schema::device::kMaxThreadsPerBlock, &d.max_threads_per_block},
      {schema::device::kMaxThreadsPerSm, &d.max_threads_per_sm},
      {schema::device::kRegistersPerBlock, &d.registers_per_block},
      {schema::device::kRegistersPerSm, &d.registers_per_sm},
      {schema::device::kSharedMemoryPerBlock, &d.shared_per_block},
      {schema::device::kSharedMemoryPerBlockOptin, &d.shared_per_block_optin},
      {schema::device::kSharedMemoryPerSm, &d.shared_per_sm},
  };
  json_leaves(json, [&](std::string_view path, const JsonValue& value) {
    for (const auto& [key, field] : fields) {
      const bool plausible =
          value.kind == ReadEvent::ReadArg::Kind::kInt && value.integer >= 0 && value.integer < kNoDevice;
      if (path == key && plausible) *field = value.integer;
    }
  });
  return d;
}

std::int64_t blocks_that_fit(const DeviceLimits& d, const KernelShape& k) {
  if (!known(d) || k.threads_per_block <= 0) return -1;
  const std::int64_t warps = divided_up(k.threads_per_block, d.warp_size);
  const std::int64_t by_warps = d.max_threads_per_sm / d.warp_size / warps;
  if (by_warps == 0) return 0;
  return std::min({most_blocks_per_sm(d), by_warps, limit_by_registers(d, k, warps), limit_by_shared_memory(d, k)});
}

std::int64_t achieved_occupancy_percent(const DeviceLimits& d, const KernelShape& k, double blocks_per_sm) {
  const std::int64_t fit = blocks_that_fit(d, k);
  if (fit < 0) return -1;
  const double blocks = std::min(static_cast<double>(fit), blocks_per_sm);
  // Not std::lround(): jobs would load libm.
  return static_cast<std::int64_t>(
      100 * blocks * static_cast<double>(k.threads_per_block) / static_cast<double>(d.max_threads_per_sm) + 0.5);
}

}  // namespace profshim::kineto
