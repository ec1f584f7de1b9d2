#pragma once

#include <atomic>
#include <cstdint>

#include "profshim/base/threads/take_flag.h"

namespace profshim::cupti {

/// After kMostWait_ns, goes on without the lock: a forked child inherits the flag, but not the thread that would clear
/// it.
class SpinLockGuard {
 public:
  explicit SpinLockGuard(std::atomic_flag& flag) : flag_(flag) {
    constexpr std::int64_t kMostWait_ns = 100'000'000;
    take_flag(flag_, kMostWait_ns);
  }
  ~SpinLockGuard() { flag_.clear(std::memory_order_release); }
  SpinLockGuard(const SpinLockGuard&) = delete;
  SpinLockGuard& operator=(const SpinLockGuard&) = delete;

 private:
  std::atomic_flag& flag_;
};

/// Subscriptions and activity kinds of the job's other CUPTI clients. Not thread-safe.
class OtherClients {
 public:
  /// The subscriber's buffer callbacks get all records of the process until the subscriber unsubscribes (libcupti
  /// 13.2.75).
  void on_all_buffers_taken(void* subscriber) { takes_all_ = subscriber; }
  /// `alone`: CUPTI admits no other subscriber (cuptiSubscribe, or cuptiSubscribe_v2 without allowMultipleSubscribers).
  void on_subscribe(void* subscriber, bool alone) {
    if (alone) alone_ = subscriber;
  }
  bool on_unsubscribe(void* subscriber) {
    if (subscriber == nullptr || (subscriber != alone_ && subscriber != takes_all_)) return false;
    if (subscriber == takes_all_) {  // CUPTI disables the subscriber's kinds
      kinds_ = calls_ = 0;
      takes_all_ = nullptr;
    }
    if (subscriber == alone_) alone_ = nullptr;
    return true;
  }
  void on_enable(std::uint32_t kind) {
    if (kind < kKinds) kinds_ |= std::uint64_t{1} << kind;
  }
  bool holds(std::uint32_t kind) const { return kind < kKinds && (kinds_ >> kind & 1) != 0; }
  /// Returns true if this call stopped the last client that recorded.
  bool on_disable(std::uint32_t kind) {
    const bool recorded = is_recording();
    if (kind < kKinds) kinds_ &= ~(std::uint64_t{1} << kind);
    return note_if_stopped(recorded);
  }
  bool on_api_switch(bool on) {
    const bool recorded = is_recording();
    if (on) ++calls_;
    if (!on && calls_ > 0) --calls_;
    return note_if_stopped(recorded);
  }
  void on_finalize() { *this = OtherClients(); }
  /// Returns true if all clients have stopped since the last take_stopped() and none has started again.
  bool take_stopped() {
    const bool silent = stopped_ && !is_recording();
    stopped_ = false;
    return silent;
  }
  bool is_recording() const { return kinds_ != 0 || calls_ != 0 || takes_all_ != nullptr; }

 private:
  bool note_if_stopped(bool recorded) {
    const bool silent = recorded && !is_recording();
    stopped_ = stopped_ || silent;
    return silent;
  }

  static constexpr std::uint32_t kKinds = 64;
  std::uint64_t kinds_ = 0;
  std::uint64_t calls_ = 0;  // API functions enabled one by one
  void* alone_ = nullptr;
  void* takes_all_ = nullptr;
  bool stopped_ = false;
};

}  // namespace profshim::cupti
