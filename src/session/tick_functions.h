#pragma once

#include <array>
#include <atomic>

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
      if (void (*const function)() = slot.load()) function();
    }
  }

 private:
  std::array<std::atomic<void (*)()>, 4> slots_{};
};

}  // namespace profshim::session
