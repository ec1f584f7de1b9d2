// The CUDA functions that we export (hooks/cuda.def): they forward, and while CUPTI is not to be had they record the
// call.
#pragma once

namespace profshim::cuda {

/// `function` is called once, when CUDA has been used through a symbol of ours and that call has succeeded: on the
/// thread of the call, after it. By then cuInit() has run, and with it InitializeInjection() if it is to run at all.
/// Called by the constructor.
void on_first_call(void (*function)());

}  // namespace profshim::cuda
