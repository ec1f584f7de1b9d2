// Simulates NVML as NVIDIA's NVML API Reference Guide describes it (sections "Initialization and Cleanup", "Error
// reporting" and "Device Queries"). GPU number N of the machine has the UUID GPU-0<N+1>000000-... and the values below.
//   FAKE_NVML_GPUS   number of GPUs of the machine (4)
//   FAKE_NVML_FAIL   "function=result,...": these functions fail
//   FAKE_NVML_SLOW   milliseconds that nvmlInit_v2 takes (0)
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "fakes/environment.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// nvmlReturn_t.
constexpr int kSuccess = 0, kUninitialized = 1, kInvalidArgument = 2, kNotFound = 6;

struct Gpu {
  unsigned index;
};

Gpu* gpus() {
  static Gpu all[16] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}, {11}, {12}, {13}, {14}, {15}};
  return all;
}

bool initialized = false;

// "All functions return NVML_ERROR_UNINITIALIZED if the library has not been successfully initialized".
int result_of(const char* function, bool valid) {
  if (!initialized) return kUninitialized;
  if (!valid) return kInvalidArgument;
  return static_cast<int>(fake::lookup(fake::text("FAKE_NVML_FAIL"), function, kSuccess));
}

template <class Matches>
int find(const char* function, const void* name, Gpu** device, Matches matches) {
  const int result = result_of(function, name != nullptr && device != nullptr);
  if (result != kSuccess) return result;
  for (unsigned i = 0; i < fake::number("FAKE_NVML_GPUS", 4); ++i) {
    if (!matches(i)) continue;
    *device = &gpus()[i];
    return kSuccess;
  }
  return kNotFound;
}

}  // namespace

EXPORT int nvmlInit_v2() {
  usleep(static_cast<useconds_t>(fake::number("FAKE_NVML_SLOW") * 1000));
  const auto result = static_cast<int>(fake::lookup(fake::text("FAKE_NVML_FAIL"), "nvmlInit_v2", kSuccess));
  initialized = initialized || result == kSuccess;
  return result;
}

// "Helper method for converting NVML error codes into readable strings." Works without nvmlInit_v2.
EXPORT const char* nvmlErrorString(int result) {
  switch (result) {
    case kSuccess:
      return "Success";
    case kUninitialized:
      return "Uninitialized";
    case kInvalidArgument:
      return "Invalid Argument";
    case 3:
      return "Not Supported";
    case 4:
      return "Insufficient Permissions";
    case kNotFound:
      return "Not Found";
    case 9:
      return "Driver Not Loaded";
    default:
      return "Unknown Error";
  }
}

EXPORT int nvmlDeviceGetHandleByUUID(const char* uuid, Gpu** device) {
  return find("nvmlDeviceGetHandleByUUID", uuid, device, [&](unsigned i) {
    char own[64];
    std::snprintf(own, sizeof own, "GPU-%02x000000-0000-0000-0000-000000000000", i + 1);
    return std::strcmp(uuid, own) == 0;
  });
}

EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* id, Gpu** device) {
  return find("nvmlDeviceGetHandleByPciBusId_v2", id, device, [&](unsigned i) {
    char own[32];
    std::snprintf(own, sizeof own, "0000:%02x:00.0", i + 1);
    return std::strcmp(id, own) == 0;
  });
}

EXPORT int nvmlDeviceGetUtilizationRates(Gpu* device, unsigned* gpu_and_memory) {
  const int result = result_of("nvmlDeviceGetUtilizationRates", device != nullptr && gpu_and_memory != nullptr);
  if (result != kSuccess) return result;
  gpu_and_memory[0] = 10 * (device->index + 1);
  gpu_and_memory[1] = 5;
  return result;
}

EXPORT int nvmlDeviceGetMemoryInfo(Gpu* device, unsigned long long* total_free_used) {
  const int result = result_of("nvmlDeviceGetMemoryInfo", device != nullptr && total_free_used != nullptr);
  if (result != kSuccess) return result;
  total_free_used[0] = 80ull << 30;
  total_free_used[2] = (device->index + 1ull) << 30;
  total_free_used[1] = total_free_used[0] - total_free_used[2];
  return result;
}

// Types: NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2.
EXPORT int nvmlDeviceGetClockInfo(Gpu* device, int type, unsigned* mhz) {
  const bool valid = device != nullptr && mhz != nullptr && type >= 0 && type <= 3;
  const int result = result_of("nvmlDeviceGetClockInfo", valid);
  if (result == kSuccess) *mhz = (type == 2 ? 2600 : 1700) + device->index;
  return result;
}

#ifndef FAKE_NVML_WITHOUT_POWER
// "Retrieves power usage for this GPU in milliwatts".
EXPORT int nvmlDeviceGetPowerUsage(Gpu* device, unsigned* milliwatts) {
  const int result = result_of("nvmlDeviceGetPowerUsage", device != nullptr && milliwatts != nullptr);
  if (result == kSuccess) *milliwatts = 300'250 + 1000 * device->index;
  return result;
}
#endif
