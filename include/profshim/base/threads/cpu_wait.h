// On a busy machine threads wait for a CPU: that part of the elapsed time says nothing of the job.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>

namespace profshim {

/// Returns how many nanoseconds a thread of this process has been ready, but had no CPU, since it started
/// (Documentation/scheduler/sched-stats.rst). Nothing if it has ended, or in a sandbox without schedstat. Reads a file,
/// which takes 6 us. Any thread; no cancellation point.
std::optional<std::int64_t> waited_for_cpu_ns(pid_t tid);

/// Follows how long another thread has waited for a CPU, with the wait that lasts now: the kernel counts a wait when it
/// has ended. Look every few milliseconds, on any threads. No cancellation point.
class CpuWaits {
 public:
  /// Returns the nanoseconds since the thread started; 0 if they are unknown. `tid`: 0 = the thread has been made, but
  /// has not run yet.
  std::int64_t look_ns(pid_t tid);

 private:
  std::atomic<std::int64_t> ran_ns_{-1}, changed_at_ns_{0};
};

}  // namespace profshim
