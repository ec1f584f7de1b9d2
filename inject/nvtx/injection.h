// The interface of NVTX recording to the rest of inject/.
#pragma once

namespace profshim::nvtx {

/// Sets NVTX_INJECTION64_PATH to `own_path`, the real path of this library. If the variable names another tool, leaves
/// it alone, unless PROFSHIM_NVTX_CHAIN=1 is set: then takes it over and forwards every call to that tool. The
/// library's constructor calls this.
void set_injection_path(const char* own_path);

/// The session is active. Reports in problems[] if another tool has the NVTX calls.
void on_activate();

}  // namespace profshim::nvtx
