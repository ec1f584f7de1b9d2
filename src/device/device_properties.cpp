// Makes an element of a trace's deviceProperties from CUPTI's record of a device.
#include <cstdio>

#include "device/capture/converter.h"
#include "profshim/json.h"

namespace profshim::device {
namespace {

constexpr int kSharedMemoryPerBlockOptin = 97;  // CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN

// Asks the driver. If the driver does not answer, derives the value from the architecture: from compute capability 8
// on, the system reserves 1 KiB of each multiprocessor's shared memory.
std::int64_t shared_memory_optin(const cupti::DeviceRecord& r) {
  const int asked = device_attribute(kSharedMemoryPerBlockOptin, static_cast<int>(r.id));
  if (asked > 0) return asked;
  if (r.major < 7) return r.shared_per_block;
  return std::int64_t{r.shared_per_multiprocessor} - (r.major >= 8 ? 1024 : 0);
}

// Formats a UUID as nvidia-smi -L does.
std::string uuid(const char* prefix, const std::uint8_t (&bytes)[16]) {
  std::string text = prefix;
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += digits;
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

}  // namespace

std::string device_properties(const cupti::DeviceRecord& r) {
  std::string json = "\"id\": " + std::to_string(r.id);
  json += ", \"name\": " + json_string(r.name != nullptr ? r.name : "");
  const auto add = [&json](const char* key, std::int64_t value) {
    json += ", \"" + std::string(key) + "\": " + std::to_string(value);
  };
  add("totalGlobalMem", static_cast<std::int64_t>(r.memory_bytes));
  add("computeMajor", r.major);
  add("computeMinor", r.minor);
  add("maxThreadsPerBlock", r.threads_per_block);
  add("maxThreadsPerMultiprocessor", std::int64_t{r.warps_per_multiprocessor} * r.threads_per_warp);
  add("regsPerBlock", r.registers_per_block);
  add("warpSize", r.threads_per_warp);
  add("sharedMemPerBlock", r.shared_per_block);
  add("numSms", r.multiprocessors);
  add("regsPerMultiprocessor", r.registers_per_multiprocessor);
  add("sharedMemPerBlockOptin", shared_memory_optin(r));
  add("sharedMemPerMultiprocessor", r.shared_per_multiprocessor);
  // Kineto has no UUIDs. They tell which GPU of the node a rank used: its device 0 may be any of them.
  json += ", \"uuid\": \"" + uuid("GPU-", r.uuid) + "\"";
  if (r.is_mig != 0) {
    json += ", \"migUuid\": \"" + uuid("MIG-", r.mig_uuid) + "\"";
    add("gpuInstanceId", r.gpu_instance);
    add("computeInstanceId", r.compute_instance);
  }
  return json;
}

}  // namespace profshim::device
