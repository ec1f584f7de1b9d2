// The device thread, and how others wake it: a word and the kernel's futex. No lock that a forked child could inherit,
// and no wait in which a thread of the job could be cancelled.
#pragma once

#include <atomic>
#include <cstdint>

namespace profshim::device {

/// A counter that can be waited for.
class Bell {
 public:
  std::uint32_t now() const { return rings_.load(std::memory_order_acquire); }
  void ring();
  /// Returns when it has rung since `seen`, or after that many nanoseconds (-1: never), or for no reason.
  void wait(std::uint32_t seen, std::int64_t timeout_ns);

 private:
  std::atomic<std::uint32_t> rings_{0};
};

/// Starts a thread named "profshim-gpu" with every signal blocked; false when the system refuses.
bool start_own_thread(void* (*body)(void*), void* argument);

}  // namespace profshim::device
