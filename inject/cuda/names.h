// Names of the kernels that are launched while only symbol hooks are to be had.
#pragma once

#include "profshim/event.h"

namespace profshim::cuda {

/// The mangled name of the kernel behind a host function, where the object that holds it exports it; else 0. Slow at
/// the first call for an address, one load and a compare afterwards. Job's threads, while recording.
StringId name_of_function(const void* host_function);
/// Of a cudaKernel_t or CUkernel.
StringId name_of_kernel(const void* kernel);
/// Of a CUfunction, or of a CUkernel that is passed as one.
StringId name_of_driver_function(const void* function);

}  // namespace profshim::cuda
