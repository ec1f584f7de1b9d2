// CUPTI's activity API has process-wide functions (cuptiActivityEnable) for one client, and since 13.3 functions for
// several subscribers (cuptiActivityEnable_v2). After a call of one form, the other form returns
// CUPTI_ERROR_NOT_COMPATIBLE until the last subscriber has left (seen in 13.3.75).
#pragma once

#include <atomic>
#include <cstdint>

#include "api.h"

namespace profshim::device {

struct BufferCallbacks {
  BufferRequested requested;
  BufferCompleted completed;
  SubscriberBufferRequested requested_of_subscriber;
  SubscriberBufferCompleted completed_of_subscriber;
};

/// An int result is a CUptiResult.
class ActivityScope {
 public:
  explicit ActivityScope(const CuptiApi& api) : api_(api) {}
  ActivityScope(const ActivityScope&) = delete;
  ActivityScope& operator=(const ActivityScope&) = delete;

  /// Registers as a subscriber, or process-wide if CUPTI refuses or `of_process`. Call open() again if another client
  /// may have registered callbacks.
  int open(const BufferCallbacks& callbacks, bool of_process = false);
  /// Unsubscribes. Loses the buffers at CUPTI.
  void close();
  /// True if subscribed. Thread-safe.
  bool is_shared() const { return subscriber_.load(std::memory_order_relaxed) != nullptr; }

  int enable(std::uint32_t kind) const;
  /// Also reports existing devices, contexts or streams.
  int enable_and_dump(std::uint32_t kind) const;
  int disable(std::uint32_t kind) const;
  /// Returns kNotSupported before CUPTI 12.5.
  int next_record(std::uint8_t* buffer, std::size_t valid, cupti::Record** record) const;
  /// Counts records that CUPTI dropped since the last dropped_records().
  std::size_t dropped_records() const;

  /// Thread-safe; no effect before open().
  void push_external(int kind, std::uint64_t id);
  void pop_external(int kind);

 private:
  void* subscriber() const { return subscriber_.load(std::memory_order_relaxed); }

  const CuptiApi& api_;
  std::atomic<void*> subscriber_{nullptr};
  std::atomic<bool> of_process_{false};
  // Counts threads in push_external() or pop_external(), for which close() waits. Sequentially consistent: either the
  // thread sees subscriber_ == null, or close() sees the thread's count.
  std::atomic<int> external_calls_{0};
};

}  // namespace profshim::device
