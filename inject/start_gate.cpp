#include "start_gate.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "profshim/base/clock.h"
#include "profshim/recorder_control.h"

namespace profshim::inject {

using detail::Gate;

namespace detail {
constinit std::atomic<Gate> gate{Gate::kOpen};
}

namespace {

constexpr std::int64_t kMostWait_ns = 2'000'000'000;
constexpr long kPause_ns = 200'000;
constinit std::atomic<std::int32_t> starter{0};
constinit std::atomic<std::int64_t> closed_at_ns{0};
constinit std::atomic<std::uint64_t> missed{0};

std::int32_t own_tid() { return static_cast<std::int32_t>(syscall(SYS_gettid)); }

/// Takes no lock: the starter may need one that the caller holds. Then the wait ends after kMostWait_ns.
bool wait_for_starter() {
  const int saved_errno = errno;
  while (detail::gate.load(std::memory_order_acquire) == Gate::kClosed) {
    if (monotonic_ns() - closed_at_ns.load(std::memory_order_relaxed) > kMostWait_ns) break;
    const timespec pause{0, kPause_ns};
    syscall(SYS_nanosleep, &pause, nullptr);
  }
  errno = saved_errno;
  return detail::gate.load(std::memory_order_acquire) != Gate::kClosed;
}

}  // namespace

void detail::pass_gate() {
  const bool is_closed = gate.load(std::memory_order_acquire) == Gate::kClosed;
  if (is_closed && (starter.load(std::memory_order_relaxed) == own_tid() || wait_for_starter())) return;
  missed.fetch_add(1, std::memory_order_relaxed);
}

void open_gate_in_child() {
  detail::gate.store(Gate::kOpen, std::memory_order_relaxed);
  starter.store(0, std::memory_order_relaxed);
  missed.store(0, std::memory_order_relaxed);
}

void announce_recording(bool soon) {
  Gate expected = soon ? Gate::kOpen : Gate::kAnnounced;
  detail::gate.compare_exchange_strong(expected, soon ? Gate::kAnnounced : Gate::kOpen);
  if (!soon) missed.store(0, std::memory_order_relaxed);
}

ClosedGate::ClosedGate() {
  std::int32_t nobody = 0;
  if (!starter.compare_exchange_strong(nobody, own_tid())) {
    if (nobody != own_tid()) wait_for_starter();
    return;
  }
  is_ours_ = true;
  closed_at_ns.store(monotonic_ns(), std::memory_order_relaxed);
  detail::gate.store(Gate::kClosed, std::memory_order_release);
}

ClosedGate::~ClosedGate() {
  if (!is_ours_) return;
  if (const std::uint64_t lost = missed.exchange(0, std::memory_order_relaxed); lost > 0)
    recorder::count_loss(Loss::early_lost, lost);
  recorder::set_mode(0, recorder::kStarting);
  detail::gate.store(Gate::kOpen, std::memory_order_release);
  starter.store(0, std::memory_order_release);
}

}  // namespace profshim::inject
