// Who else uses CUPTI in this process, and when it has let go. No CUPTI here: tests drive it.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

namespace profshim::cupti {

/// A few instructions long, never held over a call of CUPTI. Not waited for without end: a child of fork() may have
/// inherited it from a thread that it does not have.
class Spinning {
 public:
  explicit Spinning(std::atomic_flag& flag) : flag_(flag) {
    constexpr int kPatience = 1 << 14;
    for (int i = 0; i < kPatience && flag_.test_and_set(std::memory_order_acquire); ++i) sched_yield();
  }
  ~Spinning() { flag_.clear(std::memory_order_release); }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;

 private:
  std::atomic_flag& flag_;
};

/// Holdings of other clients: a place for callbacks, and kinds of activity that are on. Under the lock of its owner.
class Clients {
 public:
  /// `alone`: it lets no other subscriber in (cuptiSubscribe, or cuptiSubscribe_v2 without allowMultipleSubscribers).
  void subscribed(void* subscriber, bool alone) {
    if (alone) alone_ = subscriber;
  }
  /// Removes the subscriber. True: it was the one that lets no other in, and its place is free.
  bool unsubscribed(void* subscriber) {
    if (subscriber == nullptr || subscriber != alone_) return false;
    alone_ = nullptr;
    return true;
  }
  void enabled(std::uint32_t kind) {
    if (kind < kKinds) kinds_ |= std::uint64_t{1} << kind;
  }
  /// Was this the last kind that was on?
  bool disabled(std::uint32_t kind) {
    const bool recorded = kinds_ != 0;
    if (kind < kKinds) kinds_ &= ~(std::uint64_t{1} << kind);
    const bool silent = recorded && kinds_ == 0;
    fell_silent_ = fell_silent_ || silent;
    return silent;
  }
  void finalized() {
    alone_ = nullptr;
    kinds_ = 0;
  }
  /// Have all records been switched off since the last call, and stayed off?
  bool take_silence() {
    const bool silent = fell_silent_ && kinds_ == 0;
    fell_silent_ = false;
    return silent;
  }
  bool records() const { return kinds_ != 0; }

 private:
  static constexpr std::uint32_t kKinds = 64;
  std::uint64_t kinds_ = 0;
  void* alone_ = nullptr;
  bool fell_silent_ = false;
};

}  // namespace profshim::cupti
