#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "profshim/base/clock.h"

namespace profshim {

/// Takes a flag that another thread clears soon; clear() gives it back. Yields for `most_ns` at most: the other thread
/// may be stopped, or gone after a fork. A number of yields is no limit: on a busy machine, each takes milliseconds.
/// Async-signal-safe. Returns false without the flag.
inline bool take_flag(std::atomic_flag& flag, std::int64_t most_ns) {
  for (std::int64_t until_ns = 0; flag.test_and_set(std::memory_order_acquire); sched_yield()) {
    const std::int64_t now_ns = monotonic_ns();
    if (until_ns == 0) until_ns = now_ns + most_ns;
    if (now_ns >= until_ns) return false;
  }
  return true;
}

}  // namespace profshim
