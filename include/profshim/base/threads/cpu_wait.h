// On a busy machine threads wait for a CPU: that part of the elapsed time says nothing of the job.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace profshim {

/// Returns how many nanoseconds a thread of this process has been ready, but had no CPU, since it started
/// (Documentation/scheduler/sched-stats.rst). Nothing if it has ended, or in a sandbox without schedstat. Reads a file,
/// which takes 6 us. Any thread; no cancellation point.
std::optional<std::int64_t> waited_for_cpu_ns(pid_t tid);

}  // namespace profshim
