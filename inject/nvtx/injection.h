// NVTX for the rest of inject/: who gets the injection path, and what is said about it.
#pragma once

namespace profshim::nvtx {

/// Constructor. Points NVTX_INJECTION64_PATH at `own_path` (the real path of this library) if nobody else has set it;
/// with PROFSHIM_NVTX_CHAIN=1 also if somebody has, who then gets every call after us.
void set_injection_path(const char* own_path);

/// Activation. Says in the trace when NVTX belongs to another tool.
void on_activate();

}  // namespace profshim::nvtx
