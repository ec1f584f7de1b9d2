// Finds and asks the CUDA libraries that the process has mapped. Loads nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profshim::device {

std::vector<std::string> mapped_libraries();
/// Returns the path of the first library in `libraries` that is named `prefix` ("libcupti"), or "".
std::string find_library(const std::vector<std::string>& libraries, std::string_view prefix);

/// Waits until cuInit ends. Returns "", or why there is no device. Never call it inside cuInit.
std::string wait_for_devices();

/// True if a shared libcudart is mapped. Calls no CUDA function: cuInit may hold locks.
bool runtime_is_mapped();
/// Returns false if surely no primary context exists: then nothing was launched. Creates none.
bool a_context_exists();
/// True if libtorch_cuda is mapped: PyTorch's profiler may use CUPTI.
bool torch_is_mapped();
/// Return CUDA's version numbers (12040 = 12.4); 0 = unknown.
int driver_version();
int runtime_version();
/// Returns the value of a CUdevice_attribute, or -1.
int device_attribute(int attribute, int device);

}  // namespace profshim::device
