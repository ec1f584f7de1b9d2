#pragma once

namespace profshim::nvtx {

/// Sets NVTX_INJECTION64_PATH to this library. Replaces another tool there only if PROFSHIM_NVTX_CHAIN=1, and then
/// forwards NVTX calls to that tool. Library's constructor only.
void set_injection_path(const char* own_path);

/// Reports a problem if another tool gets the NVTX calls.
void on_activate();

}  // namespace profshim::nvtx
