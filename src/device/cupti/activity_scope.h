// ActivityScope: CUPTI's activity API as one client sees it. Up to CUPTI 13.2 a process has one client
// (cuptiActivityEnable). From 13.3 on, clients can be subscribers that record side by side (cuptiActivityEnable_v2).
// The two forms do not mix: after the first call of one form, calls of the other return CUPTI_ERROR_NOT_COMPATIBLE
// until the last subscriber has unsubscribed (read in the library of 13.3.75).
#pragma once

#include <atomic>
#include <cstdint>

#include "api.h"

namespace profshim::device {

/// The buffer callbacks for both forms: the process's, and a subscriber's.
struct BufferCallbacks {
  BufferRequested requested;
  BufferCompleted completed;
  SubscriberBufferRequested requested_of_subscriber;
  SubscriberBufferCompleted completed_of_subscriber;
};

/// Functions return a CUptiResult and run on the device thread, unless their comment says otherwise.
class ActivityScope {
 public:
  explicit ActivityScope(const CuptiApi& api) : api_(api) {}
  ActivityScope(const ActivityScope&) = delete;
  ActivityScope& operator=(const ActivityScope&) = delete;

  /// Registers the buffer callbacks: as a subscriber if CUPTI has that form and no client of the other form holds it,
  /// otherwise (or if `of_process`) for the process. Call it again if another client may have registered its own.
  int open(const BufferCallbacks& callbacks, bool of_process = false);
  /// Unsubscribes, so that CUPTI no longer refuses clients of the other form. The buffers that CUPTI still has are
  /// lost.
  void close();
  /// Returns true if this client is a subscriber, beside which others may record. Any thread.
  bool is_shared() const { return subscriber_.load(std::memory_order_relaxed) != nullptr; }

  int enable(std::uint32_t kind) const;
  /// Enables the kind and makes CUPTI write a record of each device, context or stream that exists already. By itself
  /// CUPTI writes those records only when the driver is initialized or the context or stream is created
  /// (cupti_activity.h).
  int enable_and_dump(std::uint32_t kind) const;
  int disable(std::uint32_t kind) const;
  /// Switches one function of the runtime or driver API on or off. Returns kNotSupported before CUPTI 12.5.
  int enable_call(bool runtime, std::uint32_t callback_id, bool on) const;
  int next_record(std::uint8_t* buffer, std::size_t valid, cupti::Record** record) const;
  /// Returns the number of records that CUPTI has dropped since the last call.
  std::size_t dropped_records() const;

  /// Surround the launches of one operation. Any thread, at any time; do nothing before open().
  void push_external(int kind, std::uint64_t id);
  void pop_external(int kind);

 private:
  void* subscriber() const { return subscriber_.load(std::memory_order_relaxed); }

  const CuptiApi& api_;
  std::atomic<void*> subscriber_{nullptr};
  std::atomic<bool> of_process_{false};  // was opened for the process, which lasts until its end
  // Number of threads inside push_external() or pop_external(). close() clears subscriber_ and then waits for them,
  // since they may have loaded it. Both sides are sequentially consistent: either such a thread sees null, or close()
  // sees it counted.
  std::atomic<int> external_calls_{0};
};

}  // namespace profshim::device
