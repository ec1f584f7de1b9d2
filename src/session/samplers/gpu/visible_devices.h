#pragma once

#include <vector>

#include "nvml.h"

namespace profshim::session {

/// A GPU, or instance of one, that the job sees.
struct VisibleDevice {
  std::uint16_t number;  // of CUDA
  Nvml::Device handle;   // null: NVML does not know it
};
/// True if the job has called cuInit. Loads nothing.
bool uses_cuda();
/// Asks CUDA, which knows CUDA_VISIBLE_DEVICES, for the devices. Requires uses_cuda().
std::vector<VisibleDevice> visible_devices(const Nvml& nvml);

}  // namespace profshim::session
