// While one thread begins the recording, the others wait at this gate: their operators and ranges would be missing in a
// window that holds the whole run.
#pragma once

#include <atomic>
#include <cstdint>

#include "profshim/recorder.h"

namespace profshim::inject {

namespace detail {
/// kClosed: a thread begins the recording. kAnnounced: MPI_Init runs, whose begin is the begin of the window.
enum class Gate : std::uint8_t { kOpen, kAnnounced, kClosed };
extern constinit std::atomic<Gate> gate;
void pass_gate();
}  // namespace detail

/// Hooks of operators and ranges call it if recorder::is_off(): waits, at most 2 s in the whole run, until another
/// thread has begun the recording. Counts the event as lost if it cannot wait. Any thread, also inside a signal
/// handler.
inline void await_recording() {
  if (__builtin_expect(detail::gate.load(std::memory_order_relaxed) != detail::Gate::kOpen, 0)) detail::pass_gate();
}

/// In a child of a fork, whose parent may have closed the gate.
void open_gate_in_child();

/// Call before MPI_Init runs, and with false if it failed.
void announce_recording(bool soon);

/// Closes the gate while the calling thread begins the recording.
class ClosedGate {
 public:
  ClosedGate();
  ~ClosedGate();
  ClosedGate(const ClosedGate&) = delete;
  ClosedGate& operator=(const ClosedGate&) = delete;
  /// False if another thread has begun the recording meanwhile: the constructor has waited for it.
  bool is_ours() const { return is_ours_; }

 private:
  bool is_ours_ = false;
};

}  // namespace profshim::inject
