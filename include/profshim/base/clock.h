#pragma once

#include <time.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace profshim {

/// A time of the recording clock: ticks of the processor's counter, or CLOCK_MONOTONIC nanoseconds.
using Ticks = std::uint64_t;

enum class ClockKind : std::uint32_t { kMonotonic = 0, kTsc = 1, kArmCounter = 2 };

/// One moment on three clocks.
struct Anchor {
  Ticks ticks = 0;
  std::int64_t monotonic_ns = 0;
  std::int64_t realtime_ns = 0;
};

namespace clock_detail {
extern ClockKind kind;  // written by choose_clock(), before any event
}

/// Chooses the TSC (if it is invariant) or Arm's counter, if the kernel uses it too; else CLOCK_MONOTONIC.
ClockKind choose_clock();
/// The name in traces: "monotonic", "tsc" or "arm_counter".
const char* name_of(ClockKind kind);
/// For tests.
void use_clock(ClockKind kind);

inline std::int64_t monotonic_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}
std::int64_t realtime_ns();

/// Reads a register or the vDSO. Thread-safe.
inline Ticks ticks() {
#if defined(__x86_64__)
  // Equals __rdtsc(), whose header x86intrin.h compiles slowly.
  if (__builtin_expect(clock_detail::kind == ClockKind::kTsc, 1)) return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  if (__builtin_expect(clock_detail::kind == ClockKind::kArmCounter, 1)) {
    Ticks now;  // CNTFRQ_EL0 ticks per second
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
  }
#endif
  return static_cast<Ticks>(monotonic_ns());
}

Anchor take_anchor();

/// Converts ticks to nanoseconds since the epoch, linearly between anchors. Intervals follow CLOCK_MONOTONIC. The
/// offset to the wall clock is the first anchor's, so that a step of the wall clock changes no duration.
/// Accepts any anchors (damaged spool): results lie between 1970 and 2262.
class ClockMap {
 public:
  explicit ClockMap(std::vector<Anchor> anchors, ClockKind kind);
  std::int64_t unix_ns(Ticks t) const;
  /// Step or slew of the wall clock between the first and last anchor.
  std::int64_t realtime_shift_ns() const;
  /// Mean from first to last anchor, clamped to 0.001 ... 1000.
  double ticks_per_ns() const;

 private:
  /// Valid from `ticks` on. `rate`: nanoseconds per tick.
  struct Segment {
    Ticks ticks;
    std::int64_t unix_ns;
    double rate;
  };
  std::vector<Anchor> anchors_;
  std::vector<Segment> segments_;
  ClockKind kind_;
  mutable std::size_t last_ = 0;
};

}  // namespace profshim
