// CUPTI's activity API as one client sees it. Up to CUPTI 13.2 there is one client in a process (cuptiActivityEnable).
// From 13.3 on, clients can be subscribers that record side by side (cuptiActivityEnable_v2). The two forms do not mix:
// from the first call of one form on, calls of the other answer CUPTI_ERROR_NOT_COMPATIBLE, until the last subscriber
// has unsubscribed (read in the library of 13.3.75).
#pragma once

#include <atomic>
#include <cstdint>

#include "api.h"

namespace profshim::device {

/// The buffer callbacks in both forms: of the process, and of a subscriber.
struct BufferCallbacks {
  BufferRequested requested;
  BufferCompleted completed;
  SubscriberBufferRequested requested_of_subscriber;
  SubscriberBufferCompleted completed_of_subscriber;
};

/// Functions return a CUptiResult and are called by the device thread, unless they say otherwise.
class ActivityScope {
 public:
  explicit ActivityScope(const CuptiApi& api) : api_(api) {}
  ActivityScope(const ActivityScope&) = delete;
  ActivityScope& operator=(const ActivityScope&) = delete;

  /// Registers the buffer callbacks: as a subscriber where CUPTI has that form and no client of the other form holds
  /// it, else (or where `of_process` asks for it) for the process. Again after another client has registered its own.
  int open(const BufferCallbacks& callbacks, bool of_process = false);
  /// Unsubscribes, so that clients of the other form are not refused any more. Every buffer is lost that CUPTI still
  /// has.
  void close();
  /// Do other subscribers record beside this one?
  bool is_shared() const { return subscriber_.load(std::memory_order_relaxed) != nullptr; }

  int enable(std::uint32_t kind) const;
  /// Enables, and has CUPTI write a record of each device, context or stream that exists already. CUPTI writes those
  /// records by itself only when the driver is initialized, or the context or stream is made (cupti_activity.h).
  int enable_and_dump(std::uint32_t kind) const;
  int disable(std::uint32_t kind) const;
  /// One function of the runtime or driver API; kNotSupported where CUPTI is older than 12.5.
  int enable_call(bool runtime, std::uint32_t callback_id, bool on) const;
  int next_record(std::uint8_t* buffer, std::size_t valid, cupti::Record** record) const;
  /// Records that CUPTI has dropped since the last call.
  std::size_t dropped_records() const;

  /// Around the launches of one operation. Any thread, at any time; nothing before open().
  void push_external(int kind, std::uint64_t id);
  void pop_external(int kind);

 private:
  void* subscriber() const { return subscriber_.load(std::memory_order_relaxed); }

  const CuptiApi& api_;
  std::atomic<void*> subscriber_{nullptr};
  std::atomic<bool> of_process_{false};  // has been open for the process, which nothing ends
  // Threads that push or pop: close() waits for them, since they hold the subscriber.
  std::atomic<int> external_calls_{0};
};

}  // namespace profshim::device
