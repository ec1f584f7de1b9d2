#include <cstdio>

#include "device/capture/converter.h"
#include "device/cupti/mapped_libraries.h"
#include "profshim/json/writer.h"
#include "profshim/trace/schema.h"

namespace profshim::device {
namespace {

constexpr int kSharedMemoryPerBlockOptin = 97;  // CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN

// From compute capability 8 on, CUDA reserves 1 KiB of shared memory per block.
std::int64_t shared_memory_optin(const cupti::DeviceRecord& r) {
  const int asked = device_attribute(kSharedMemoryPerBlockOptin, static_cast<int>(r.id));
  if (asked > 0) return asked;
  if (r.major < 7) return r.shared_per_block;
  return std::int64_t{r.shared_per_multiprocessor} - (r.major >= 8 ? 1024 : 0);
}

// Formats as nvidia-smi -L does.
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
  namespace key = schema::device;
  JsonWriter json;
  json.open_object().member(key::kId, r.id).member(key::kName, r.name != nullptr ? r.name : "");
  json.member(key::kTotalMemory, r.memory_bytes).member(key::kComputeMajor, r.major);
  json.member(key::kComputeMinor, r.minor).member(key::kMaxThreadsPerBlock, r.threads_per_block);
  json.member(key::kMaxThreadsPerSm, std::int64_t{r.warps_per_multiprocessor} * r.threads_per_warp);
  json.member(key::kRegistersPerBlock, r.registers_per_block).member(key::kWarpSize, r.threads_per_warp);
  json.member(key::kSharedMemoryPerBlock, r.shared_per_block).member(key::kSmCount, r.multiprocessors);
  json.member(key::kRegistersPerSm, r.registers_per_multiprocessor);
  json.member(key::kSharedMemoryPerBlockOptin, shared_memory_optin(r));
  json.member(key::kSharedMemoryPerSm, r.shared_per_multiprocessor);
  json.member(key::kUuid, uuid("GPU-", r.uuid));
  if (r.is_mig != 0) {
    json.member(key::kMigUuid, uuid("MIG-", r.mig_uuid));
    json.member(key::kGpuInstance, r.gpu_instance).member(key::kComputeInstance, r.compute_instance);
  }
  return json.close_object().text();
}

}  // namespace profshim::device
