#pragma once

namespace profshim::cuda {

/// Runs `before` once, before the first hooked CUDA call, once CUDA is initialized; and `after` once, after the first
/// successful one. Both run on the thread of the call. Call in on_load() (entry.cpp).
void on_first_call(void (*before)(), void (*after)());

/// Returns a hook that forwards to `found`, which the driver returned for the function `asked` of a CUDA version. Null
/// if that function has no row, or if its hooks forward to other functions already.
void* hook_of_driver_function(const char* asked, int version, void* found);

}  // namespace profshim::cuda
