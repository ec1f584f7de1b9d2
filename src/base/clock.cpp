#include "profshim/base/clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace profshim {

namespace clock_detail {
constinit ClockKind kind = ClockKind::kMonotonic;
}

namespace {

// Clamps: a damaged spool may hold any numbers.
std::int64_t within(__int128 ns, std::int64_t lowest) {
  constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();
  return ns < lowest ? lowest : ns > kHighest ? kHighest : static_cast<std::int64_t>(ns);
}

__int128 to_wall(const Anchor& anchor) { return __int128{anchor.realtime_ns} - anchor.monotonic_ns; }

std::int64_t read_ns(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return std::int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}

// The kernel uses only counters that are synchronized on all cores.
bool kernel_uses(const char* source) {
  const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char name[32] = {};
  const ssize_t n = read(fd, name, sizeof name - 1);
  close(fd);
  return n > 0 && name[n - 1] == '\n' && std::string_view(name, static_cast<std::size_t>(n) - 1) == source;
}

ClockKind best_clock() {
#if defined(__x86_64__)
  // CPUID 0x80000007 EDX bit 8: the TSC has one rate in every power state.
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool invariant = __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && ((d >> 8) & 1) != 0;
  if (invariant && kernel_uses("tsc")) return ClockKind::kTsc;
#elif defined(__aarch64__)
  if (kernel_uses("arch_sys_counter")) return ClockKind::kArmCounter;
#endif
  return ClockKind::kMonotonic;
}

}  // namespace

std::int64_t realtime_ns() { return read_ns(CLOCK_REALTIME); }

ClockKind choose_clock() {
  clock_detail::kind = best_clock();
  return clock_detail::kind;
}

const char* name_of(ClockKind kind) {
  if (kind == ClockKind::kTsc) return "tsc";
  return kind == ClockKind::kArmCounter ? "arm_counter" : "monotonic";
}

void use_clock(ClockKind kind) { clock_detail::kind = kind; }

Anchor take_anchor() {
  Anchor best;
  Ticks shortest = ~Ticks{0};
  for (int i = 0; i < 8; ++i) {
    const Ticks before = ticks();
    const std::int64_t mono = read_ns(CLOCK_MONOTONIC);
    const std::int64_t real = read_ns(CLOCK_REALTIME);
    const std::int64_t mono_after = read_ns(CLOCK_MONOTONIC);
    const Ticks after = ticks();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {before + (after - before) / 2, mono + (mono_after - mono) / 2, real};
  }
  if (clock_detail::kind == ClockKind::kMonotonic) best.monotonic_ns = static_cast<std::int64_t>(best.ticks);
  return best;
}

ClockMap::ClockMap(std::vector<Anchor> anchors, ClockKind kind) : anchors_(std::move(anchors)), kind_(kind) {
  std::sort(anchors_.begin(), anchors_.end(), [](const Anchor& a, const Anchor& b) { return a.ticks < b.ticks; });
  anchors_.erase(std::unique(anchors_.begin(), anchors_.end(),
                             [](const Anchor& a, const Anchor& b) { return a.ticks == b.ticks; }),
                 anchors_.end());
  if (anchors_.empty()) anchors_.push_back({});
  const __int128 offset = to_wall(anchors_.front());
  const bool counts = kind_ != ClockKind::kMonotonic;
  for (std::size_t i = 0; i < anchors_.size(); ++i) {
    const Anchor& from = anchors_[i];
    const Anchor& to = anchors_[std::min(i + 1, anchors_.size() - 1)];
    double rate = counts ? 0 : 1;
    if (counts && to.ticks > from.ticks) {
      rate = static_cast<double>(__int128{to.monotonic_ns} - from.monotonic_ns) /
             static_cast<double>(to.ticks - from.ticks);
    } else if (counts && !segments_.empty()) {
      break;
    }
    segments_.push_back({from.ticks, within(offset + from.monotonic_ns, 0), rate});
  }
}

double ClockMap::ticks_per_ns() const {
  const Anchor& a = anchors_.front();
  const Anchor& b = anchors_.back();
  if (kind_ == ClockKind::kMonotonic || b.monotonic_ns <= a.monotonic_ns) return 1.0;
  // Real counters run at 1 MHz to 1 THz.
  return std::clamp(
      static_cast<double>(b.ticks - a.ticks) / static_cast<double>(__int128{b.monotonic_ns} - a.monotonic_ns), 1e-3,
      1e3);
}

std::int64_t ClockMap::realtime_shift_ns() const {
  const Anchor& a = anchors_.front();
  const Anchor& b = anchors_.back();
  return within(to_wall(b) - to_wall(a), std::numeric_limits<std::int64_t>::min());
}

std::int64_t ClockMap::unix_ns(Ticks t) const {
  std::size_t i = last_;
  while (i + 1 < segments_.size() && t >= segments_[i + 1].ticks) ++i;
  while (i > 0 && t < segments_[i].ticks) --i;
  last_ = i;
  const Segment& s = segments_[i];
  // Keeps the conversion to int64_t defined.
  constexpr double kFarthest = 4e18;
  const double delta =
      std::clamp(static_cast<double>(static_cast<std::int64_t>(t - s.ticks)) * s.rate, -kFarthest, kFarthest);
  std::int64_t sum = 0;
  if (__builtin_add_overflow(s.unix_ns, static_cast<std::int64_t>(delta), &sum))
    sum = std::numeric_limits<std::int64_t>::max();
  return std::max<std::int64_t>(sum, 0);
}

}  // namespace profshim
