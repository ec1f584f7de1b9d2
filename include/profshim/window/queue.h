// The session opens and closes windows in the spool; the writer makes traces of the closed ones. WindowQueue is all
// that the two tell each other besides.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "profshim/base/threads/futex_event.h"
#include "profshim/event.h"

namespace profshim {

/// Thread-safe. Never destroyed: threads of the job may use it at exit.
struct WindowQueue {
  FutexEvent wake;       // the writer: a window has closed, or other work waits
  std::mutex gathering;  // held by the writer while it collects events, by the collector while it frees chunks

  // Set by the session.
  std::atomic<std::uint64_t> opened{0};
  std::atomic<bool> steps_over{false};  // no later step is recorded
  std::atomic<bool> all_opened{false};  // limits.total_traces is reached
  std::atomic<bool> is_over{false};     // no later window opens, of steps or phases
  std::atomic<Ticks> stall_ticks{0};    // time that the job has spent in session::step_boundary() and the like

  // Set by the writer.
  std::atomic<std::uint64_t> done{0};             // written, dropped or failed
  std::atomic<std::uint64_t> waiting{0};          // closed, not written
  std::atomic<std::uint64_t> marks_published{0};  // step marks before this one are in files
  std::atomic<bool> disk_is_full{false};          // limits.disk_free
  std::atomic<bool> is_spool_removed{false};
  std::atomic<std::uint64_t> progress{0};  // counts what the writer does: while it grows, the end of the job waits
};

}  // namespace profshim
