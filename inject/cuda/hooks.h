// The exported CUDA functions of hooks/cuda.def.
#pragma once

namespace profshim::cuda {

/// Makes `function` run once, after the first successful CUDA call (cuInit() has run), on its thread. Constructor only.
void on_first_call(void (*function)());

}  // namespace profshim::cuda
