// NVTX recording for the rest of inject/.
#pragma once

namespace profshim::nvtx {

/// Sets NVTX_INJECTION64_PATH to this library. Takes it from another tool only with PROFSHIM_NVTX_CHAIN=1, and forwards
/// every call. Constructor only.
void set_injection_path(const char* own_path);

/// Reports in problems[] if another tool has the NVTX calls.
void on_activate();

}  // namespace profshim::nvtx
