// No function loads a library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profshim::device {

std::vector<std::string> mapped_libraries();
/// Returns "" if no library is named `prefix` ("libcupti").
std::string find_library(const std::vector<std::string>& libraries, std::string_view prefix);

/// Waits until cuInit ends, so never call inside cuInit. Returns "", or why there is no device.
std::string wait_for_devices();

/// Calls no CUDA function: cuInit may hold locks.
bool runtime_is_mapped();
/// Returns false only if surely no primary context exists. Creates none.
bool a_context_exists();
bool torch_is_mapped();
// 12040 = 12.4; 0 = unknown.
int driver_version();
int runtime_version();
/// `attribute`: CUdevice_attribute. -1 = unknown.
int device_attribute(int attribute, int device);

}  // namespace profshim::device
