// Other clients of CUPTI in this process: what they hold, and when they have let go. No CUPTI here: tests drive it.
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
  /// It has registered buffer callbacks in a form that takes everybody's records until it unsubscribes (CUPTI 13.2).
  void took_all_buffers(void* subscriber) { takes_all_ = subscriber; }
  /// `alone`: it lets no other subscriber in (cuptiSubscribe, or cuptiSubscribe_v2 without allowMultipleSubscribers).
  void subscribed(void* subscriber, bool alone) {
    if (alone) alone_ = subscriber;
  }
  /// Removes the subscriber. True if it had kept others out: its place is free now.
  bool unsubscribed(void* subscriber) {
    if (subscriber == nullptr || (subscriber != alone_ && subscriber != takes_all_)) return false;
    if (subscriber == takes_all_) {  // its kinds go with it
      kinds_ = calls_ = 0;
      takes_all_ = nullptr;
    }
    if (subscriber == alone_) alone_ = nullptr;
    return true;
  }
  void enabled(std::uint32_t kind) {
    if (kind < kKinds) kinds_ |= std::uint64_t{1} << kind;
  }
  bool holds(std::uint32_t kind) const { return kind < kKinds && (kinds_ >> kind & 1) != 0; }
  /// Was this the last kind that was on?
  bool disabled(std::uint32_t kind) {
    const bool recorded = records();
    if (kind < kKinds) kinds_ &= ~(std::uint64_t{1} << kind);
    return fell_silent(recorded);
  }
  /// One function of the runtime or driver API goes on or off. Was it the last that was on?
  bool switched_call(bool on) {
    const bool recorded = records();
    if (on) ++calls_;
    if (!on && calls_ > 0) --calls_;
    return fell_silent(recorded);
  }
  void finalized() { *this = Clients(); }
  /// Have all records been switched off since the last call, and stayed off?
  bool take_silence() {
    const bool silent = fell_silent_ && !records();
    fell_silent_ = false;
    return silent;
  }
  bool records() const { return kinds_ != 0 || calls_ != 0 || takes_all_ != nullptr; }

 private:
  bool fell_silent(bool recorded) {
    const bool silent = recorded && !records();
    fell_silent_ = fell_silent_ || silent;
    return silent;
  }

  static constexpr std::uint32_t kKinds = 64;
  std::uint64_t kinds_ = 0;
  std::uint64_t calls_ = 0;  // that are on one by one
  void* alone_ = nullptr;
  void* takes_all_ = nullptr;
  bool fell_silent_ = false;
};

}  // namespace profshim::cupti
