// The CUDA libraries that the process has mapped, and questions to them. Loads nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profshim::device {

std::vector<std::string> mapped_libraries();
/// Returns the path of the first library in `libraries` that is named `prefix` ("libcupti"), or "".
std::string find_library(const std::vector<std::string>& libraries, std::string_view prefix);

/// Waits for the end of cuInit. Returns "", or why there is no device. Device thread, not inside cuInit.
std::string wait_for_devices();

/// True if a shared libcudart is mapped. Calls no CUDA function: cuInit may hold locks.
bool runtime_is_mapped();
/// False if no primary context exists, so that no activity was launched. Creates none.
bool a_context_exists();
/// PyTorch's profiler is a client of CUPTI.
bool torch_is_mapped();
/// As in CUDA (12040 = 12.4); 0 = unknown. Ask mapped libraries; load nothing.
int driver_version();
int runtime_version();
/// Value of a CUdevice_attribute from the mapped libcuda, or -1.
int device_attribute(int attribute, int device);

}  // namespace profshim::device
