// How we learn that a process uses CUDA: the driver opens the library that CUDA_INJECTION64_PATH names inside cuInit.
#pragma once

namespace profshim::cuda {

/// Constructor: our library goes into CUDA_INJECTION64_PATH, unless another tool is there already.
void set_injection_path(const char* own_path);
/// This process records: says what another tool's seat costs, and starts what cuInit has already asked for.
void on_activate();

}  // namespace profshim::cuda
