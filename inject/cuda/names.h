// Names of launched kernels, for the hooks that record calls when CUPTI is not available.
#pragma once

#include "profshim/event.h"

namespace profshim::cuda {

/// All return the interned mangled name of a kernel; 0 if it is unknown. The first call for an address is slow; later
/// calls cost one load and a compare. Job's threads, while recording.

/// `host_function` is the kernel's function on the host. Its name is known only if its library exports it.
StringId name_of_function(const void* host_function);
/// `kernel` is a cudaKernel_t or CUkernel.
StringId name_of_kernel(const void* kernel);
/// `function` is a CUfunction, or a CUkernel passed as one.
StringId name_of_driver_function(const void* function);

}  // namespace profshim::cuda
