// Inside cuInit, the driver opens the library that CUDA_INJECTION64_PATH names.
#pragma once

namespace profshim::cuda {

/// Sets CUDA_INJECTION64_PATH to `own_path`, unless it names another tool. Call in on_load().
void set_injection_path(const char* own_path);
/// Call after activation: starts the device thread if cuInit has run.
void on_activate();

}  // namespace profshim::cuda
