// A process ends with its last thread when its main thread has ended by pthread_exit(). Ours must not be that thread.
#pragma once

#include <sys/types.h>

#include <span>

namespace profshim::session {

/// Has the main thread ended, and are `ours` the only threads left? Reads /proc: a few times a second at most.
bool only_ours_are_left(std::span<const pid_t> ours);

}  // namespace profshim::session
