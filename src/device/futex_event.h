// FutexEvent has no mutex that a forked child could inherit locked, and no cancellation point.
#pragma once

#include <atomic>
#include <cstdint>

namespace profshim::device {

/// Thread-safe.
class FutexEvent {
 public:
  std::uint32_t count() const { return count_.load(std::memory_order_acquire); }
  void notify_all();
  /// Returns when count() != `seen`, after `timeout_ns` (-1 = no timeout), or spuriously.
  void wait(std::uint32_t seen, std::int64_t timeout_ns);

 private:
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace profshim::device
