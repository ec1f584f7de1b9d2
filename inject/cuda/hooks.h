// The exported CUDA functions (hooks/cuda.def). They forward, and record the call while CUPTI is not available.
#pragma once

namespace profshim::cuda {

/// Sets a function that is called once, after the first successful CUDA call through a hook, on the thread of that
/// call. By then cuInit() has run, and with it InitializeInjection() if it runs at all. Called by the constructor.
void on_first_call(void (*function)());

}  // namespace profshim::cuda
