// The recording clock, and its conversion to wall-clock time.
#pragma once

#include <time.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace profshim {

/// A reading of the recording clock: ticks of the processor's counter, or CLOCK_MONOTONIC nanoseconds. Chosen once per
/// process.
using Ticks = std::uint64_t;

enum class ClockKind : std::uint32_t { kMonotonic = 0, kTsc = 1, kArmCounter = 2 };

/// One moment on all three clocks. Conversions interpolate between anchors.
struct Anchor {
  Ticks ticks = 0;
  std::int64_t monotonic_ns = 0;
  std::int64_t realtime_ns = 0;
};

namespace clock_detail {
extern ClockKind kind;  // choose_clock() writes it once, before any event is recorded
}

/// Chooses the TSC if it is invariant, or Arm's counter, if the kernel uses it too; otherwise CLOCK_MONOTONIC. Called
/// once, at activation.
ClockKind choose_clock();
/// Returns the name used in traces: "monotonic", "tsc" or "arm_counter".
const char* name_of(ClockKind kind);
/// Forces a clock. Tests use this.
void use_clock(ClockKind kind);

inline std::int64_t monotonic_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}
std::int64_t realtime_ns();

/// Reads the recording clock: a register for a counter, otherwise the vDSO. Hot path. Any thread.
inline Ticks ticks() {
#if defined(__x86_64__)
  if (__builtin_expect(clock_detail::kind == ClockKind::kTsc, 1)) return __rdtsc();
#elif defined(__aarch64__)
  if (__builtin_expect(clock_detail::kind == ClockKind::kArmCounter, 1)) {
    Ticks now;  // CNTFRQ_EL0 ticks per second
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
  }
#endif
  return static_cast<Ticks>(monotonic_ns());
}

/// Reads the three clocks several times and returns the reading that took the shortest time.
Anchor take_anchor();

/// Converts ticks to nanoseconds since the epoch by linear interpolation between neighboring anchors. Intervals follow
/// CLOCK_MONOTONIC. The offset to the wall clock is that of the first anchor, so that a step of the wall clock during
/// the run changes no duration. Any anchors are accepted (a damaged spool); every result lies between 1970 and 2262.
class ClockMap {
 public:
  explicit ClockMap(std::vector<Anchor> anchors, ClockKind kind);
  std::int64_t unix_ns(Ticks t) const;
  /// Returns by how much the wall clock was stepped or slewed against the monotonic clock between the first and the
  /// last anchor.
  std::int64_t realtime_shift_ns() const;
  /// Returns the rate between the first and the last anchor, clamped to 0.001 ... 1000.
  double ticks_per_ns() const;

 private:
  /// The part of the map from `ticks` on: the time there, and nanoseconds per tick.
  struct Segment {
    Ticks ticks;
    std::int64_t unix_ns;
    double rate;
  };
  std::vector<Anchor> anchors_;
  std::vector<Segment> segments_;
  ClockKind kind_;
  mutable std::size_t last_ = 0;  // segment of the last conversion; most conversions come in ascending order
};

}  // namespace profshim
