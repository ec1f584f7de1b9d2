#pragma once

#include <cstdint>

#include "profshim/event.h"

namespace profshim::cuda {

/// Runs `before` once, before the first hooked CUDA call, once CUDA is initialized; and `after` once, after the first
/// successful one. Both run on the thread of the call. Call in on_load() (entry.cpp).
void on_first_call(void (*before)(), void (*after)());

/// Returns a hook that forwards to `found`, which the driver returned for the function `asked` of a CUDA version. Null
/// if that function has no row, or if its hooks forward to other functions already.
void* hook_of_driver_function(const char* asked, int version, void* found);

// Inside cuInit, the driver opens the library that CUDA_INJECTION64_PATH names.

/// Sets CUDA_INJECTION64_PATH to `own_path`, unless it names another tool. Call in on_load().
void set_injection_path(const char* own_path);
/// Call after activation: starts the device thread if cuInit has run.
void on_activate();

/// Call when an allocation has failed for want of memory, on its thread. `caller`: an address in the code that asked.
void note_failed_allocation(std::uint64_t bytes, const void* caller);

// These functions return the kernel's mangled name, interned, or 0.

/// `host_function`: the kernel's stub on the host, if exported.
StringId name_of_function(const void* host_function);
/// `kernel`: a cudaKernel_t or CUkernel.
StringId name_of_kernel(const void* kernel);
/// `function`: a CUfunction, or a CUkernel cast to CUfunction.
StringId name_of_driver_function(const void* function);

}  // namespace profshim::cuda
