// The part of NVML that [system] gpu calls, as nvml.h of CUDA 11.8 to 13 declares it.
#pragma once

#include <cstdint>
#include <string>

namespace profshim::session {

struct Nvml {
  using Device = struct nvmlDevice_st*;
  static constexpr int kSuccess = 0;
  // Values of nvmlClockType_t.
  static constexpr int kSmClock = 1, kMemoryClock = 2;
  struct Utilization {
    unsigned gpu, memory;  // percent
  };
  struct Memory {
    unsigned long long total, free, used;  // bytes
  };

  /// Opens libnvidia-ml.so.1 and initializes NVML. Returns false and says why on failure. May take seconds.
  bool open(std::string& why_not);
  /// As nvmlErrorString().
  std::string reason(int result) const;

  // Null if the library lacks the function.
  const char* (*error_string)(int) = nullptr;
  int (*handle_by_uuid)(const char*, Device*) = nullptr;
  int (*handle_by_pci_bus_id)(const char*, Device*) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*clock)(Device, int type, unsigned* mhz) = nullptr;
  int (*power)(Device, unsigned* milliwatts) = nullptr;
};

}  // namespace profshim::session
