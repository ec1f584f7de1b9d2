#pragma once

namespace profshim::nvtx {

/// Sets NVTX_INJECTION64_PATH to this library. Replaces another tool there only if PROFSHIM_NVTX_CHAIN=1, and then
/// forwards NVTX calls to that tool. Library's constructor only.
void set_injection_path(const char* own_path);

/// Registers range_cost(). Reports a problem if NVTX ranges cannot be recorded.
void on_activate();

}  // namespace profshim::nvtx
