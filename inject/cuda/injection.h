// Detects that a process uses CUDA: inside cuInit, the driver opens the library that CUDA_INJECTION64_PATH names.
#pragma once

namespace profshim::cuda {

/// Sets CUDA_INJECTION64_PATH to this library, unless the variable names another tool. Constructor only.
void set_injection_path(const char* own_path);
/// Call this when the process has been activated. Starts the device thread if cuInit has run already. Reports a problem
/// if another tool holds the variable.
void on_activate();

}  // namespace profshim::cuda
