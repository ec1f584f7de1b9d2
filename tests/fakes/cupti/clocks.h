// CUPTI's default is the real-time clock.
#pragma once

#include <cstdint>
#include <ctime>

namespace fake::cupti {

inline std::uint64_t nanoseconds_of(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000ull + static_cast<std::uint64_t>(now.tv_nsec);
}
inline std::uint64_t realtime() { return nanoseconds_of(CLOCK_REALTIME); }
inline std::uint64_t monotonic() { return nanoseconds_of(CLOCK_MONOTONIC); }

}  // namespace fake::cupti
