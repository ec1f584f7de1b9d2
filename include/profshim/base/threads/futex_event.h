// FutexEvent has no mutex that a forked child could inherit locked, and no cancellation point. Unlike a condition
// variable, it may be notified in a signal handler, and its timeouts follow the true clock (src/base/kernel_calls.cpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "profshim/base/clock.h"

namespace profshim {

/// Thread-safe.
class FutexEvent {
 public:
  std::uint32_t count() const { return count_.load(std::memory_order_acquire); }
  /// Async-signal-safe; preserves errno.
  void notify_all();
  /// Returns when count() != `seen`, after `timeout_ns` (-1 = no timeout), or spuriously.
  void wait(std::uint32_t seen, std::int64_t timeout_ns);

  /// Waits until done() is true, at most `timeout_ns` (-1 = no timeout), and returns done(). Calls done() with `lock`
  /// held, at the beginning and after each notification. A change that done() looks at is made under the same mutex,
  /// or before the notification.
  template <class Done>
  bool wait_for(std::unique_lock<std::mutex>& lock, std::int64_t timeout_ns, const Done& done) {
    const std::int64_t until = timeout_ns < 0 ? 0 : monotonic_ns() + timeout_ns;
    for (;;) {
      const std::uint32_t seen = count();
      if (done()) return true;
      const std::int64_t left = timeout_ns < 0 ? -1 : until - monotonic_ns();
      if (timeout_ns >= 0 && left <= 0) return false;
      lock.unlock();
      wait(seen, left);
      lock.lock();
    }
  }

 private:
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace profshim
