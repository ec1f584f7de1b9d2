// FutexEvent: a counter in one word that threads wait for with the kernel's futex. It has no lock that a forked child
// could inherit, and its wait is not a point where a thread of the job can be canceled.
#pragma once

#include <atomic>
#include <cstdint>

namespace profshim::device {

/// Any thread may call each function.
class FutexEvent {
 public:
  /// The number of notifications so far. Acquire: what a thread wrote before its notify_all() is seen with the count.
  std::uint32_t count() const { return count_.load(std::memory_order_acquire); }
  /// Counts up (release) and wakes every waiting thread.
  void notify_all();
  /// Returns when count() differs from `seen`, after `timeout_ns` (-1: no timeout), or spuriously.
  void wait(std::uint32_t seen, std::int64_t timeout_ns);

 private:
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace profshim::device
