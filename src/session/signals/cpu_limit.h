// The job's limits on CPU time (ulimit -t, RLIMIT_RTTIME). At the soft limit the kernel sends SIGXCPU, at the hard
// limit SIGKILL: a trace must be written in between, while other threads of the job may use many CPUs. All functions
// are async-signal-safe.
#pragma once

#include <cstdint>

namespace profshim::cpu_limit {

/// CPU time to keep for the end of the process itself: with less, the thread that ends the recording gives up.
inline constexpr std::int64_t kReserve_ns = 100'000'000;
/// With less, the process ends at once, and no line says what was not written.
inline constexpr std::int64_t kLastReserve_ns = kReserve_ns / 2;

/// Returns the CPU time in nanoseconds that the process may use before the kernel sends SIGKILL, or, if `soft`, before
/// it sends SIGXCPU. May be negative. The highest number = no limit.
std::int64_t left_ns(bool soft);

/// Call once the kernel has sent SIGXCPU. If it will send SIGKILL after more CPU time, moves all threads to one CPU,
/// where those of the job give way to ours. Else ends their real-time priority, for RLIMIT_RTTIME.
void spare_time();

/// Makes the kernel send SIGXCPU once only kLastReserve_ns are left, and not before. Returns false without a limit.
bool send_last_signal();

}  // namespace profshim::cpu_limit
