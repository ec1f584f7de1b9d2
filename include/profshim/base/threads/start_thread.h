#pragma once

#include <pthread.h>

namespace profshim {

/// Starts a thread of ours with all signals blocked: a signal handler of the job must never run on our threads. Returns
/// 0 or an errno.
int start_thread(pthread_t& thread, void* (*body)(void*), void* argument);

}  // namespace profshim
