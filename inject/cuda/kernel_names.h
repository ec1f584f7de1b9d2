// These functions return the kernel's mangled name, interned, or 0.
#pragma once

#include "profshim/event.h"

namespace profshim::cuda {

/// `host_function`: the kernel's stub on the host, if exported.
StringId name_of_function(const void* host_function);
/// `kernel`: a cudaKernel_t or CUkernel.
StringId name_of_kernel(const void* kernel);
/// `function`: a CUfunction, or a CUkernel cast to CUfunction.
StringId name_of_driver_function(const void* function);

}  // namespace profshim::cuda
