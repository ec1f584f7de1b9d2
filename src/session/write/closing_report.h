// The log lines at the end of a recording, and if the disk has no room for a window. One rank writes each line for the
// whole job: the lowest selected rank if all ranks see the matter, else the first rank that reports it.
#pragma once

#include "session/state.h"

namespace profshim::session {

/// Logs the outcome of the recording. After the writer has ended, before the claim on the rank is released.
void log_outcome(State& state);

/// Checks limits.disk_free every few seconds, and reports refused windows once. Writer thread.
class DiskWatch {
 public:
  explicit DiskWatch(State& state) : s_(state) {}
  /// `soon`: a window may open at the next step; the disk is then checked at once.
  void check(bool soon);

 private:
  State& s_;
  std::int64_t checked_ns_ = 0;
  bool was_soon_ = false, said_ = false;
};
/// Checks limits.disk_free once. Any thread that may wait for a file system.
void check_disk(State& state);

/// Logs that a window could not be written. Writer thread.
void log_window_failed(State& state, const output::ManifestWindow& window);

}  // namespace profshim::session
