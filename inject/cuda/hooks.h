#pragma once

namespace profshim::cuda {

/// Runs `function` once, after the first successful CUDA call, on the thread of that call. Call in on_load()
/// (entry.cpp).
void on_first_call(void (*function)());

}  // namespace profshim::cuda
