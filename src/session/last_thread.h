// After pthread_exit() of the main thread, a process ends with its last thread. Our threads must not keep it alive.
#pragma once

#include <sys/types.h>

#include <span>

namespace profshim::session {

/// Returns true if the main thread has ended and only the threads `ours` are left. Reads /proc; call it a few times a
/// second at most.
bool only_ours_are_left(std::span<const pid_t> ours);

}  // namespace profshim::session
