#pragma once

namespace profshim::cuda {

/// Runs `before` once, before the first hooked CUDA call, once CUDA is initialized; and `after` once, after the first
/// successful one. Both run on the thread of the call. Call in on_load() (entry.cpp).
void on_first_call(void (*before)(), void (*after)());

}  // namespace profshim::cuda
