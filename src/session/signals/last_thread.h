// Our threads must not keep the process alive after pthread_exit() of the main thread.
#pragma once

#include <sys/types.h>

#include <span>

namespace profshim::session {

/// Reads /proc: call it a few times per second at most.
bool only_ours_are_left(std::span<const pid_t> ours);

}  // namespace profshim::session
