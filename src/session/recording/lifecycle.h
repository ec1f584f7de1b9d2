// Requests to end the recording, and functions of others that the collector thread calls at each tick.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <mutex>

#include "profshim/base/threads/futex_event.h"
#include "profshim/base/threads/loader_lock.h"
#include "profshim/session.h"

namespace profshim::session {

/// The functions of call_every_tick(): see profshim/session.h. Thread-safe.
class TickFunctions {
 public:
  void add(void (*function)()) {
    for (auto& slot : slots_) {
      void (*present)() = nullptr;
      if (slot.compare_exchange_strong(present, function) || present == function) return;
    }
  }
  void call() const {
    for (const auto& slot : slots_) {
      void (*const function)() = slot.load();
      if (function == nullptr) continue;
      const ForksWait while_it_may_hold_locks;
      function();
    }
  }

 private:
  std::array<std::atomic<void (*)()>, 4> slots_{};
};

/// Never destroyed: threads of the job may use it at exit.
class Lifecycle {
 public:
  /// Any thread, also a signal handler: the collector ends the recording.
  void ask_to_end(End how) {
    how_asked_.store(how);
    is_end_asked_.store(true);
    changed_.notify_all();
  }
  bool is_end_asked() const { return is_end_asked_.load(); }
  /// Call if is_end_asked().
  End how_asked() const { return how_asked_.load(); }

  /// Stops the collector.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
    }
    changed_.notify_all();
  }
  bool is_stopped() const {
    const std::lock_guard lock(mutex_);
    return is_stopped_;
  }
  /// Waits until the end is asked for or the collector is stopped, at most `most_ns`.
  void wait(std::int64_t most_ns) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, most_ns, [this] { return is_stopped_ || is_end_asked_.load(); });
  }

  /// Set before the collector thread runs.
  pthread_t collector{};
  std::atomic<pid_t> collector_tid{0};
  bool is_collector() const { return pthread_equal(pthread_self(), collector) != 0; }

 private:
  mutable std::mutex mutex_;
  FutexEvent changed_;
  bool is_stopped_ = false;  // guarded by mutex_
  std::atomic<bool> is_end_asked_{false};
  std::atomic<End> how_asked_{End::kAbrupt};  // set before is_end_asked_
};

}  // namespace profshim::session
