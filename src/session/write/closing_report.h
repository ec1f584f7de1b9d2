// The lines of a recording on stderr: at its end, and when the disk has no room for a window. One line for each matter,
// from one rank for the job: the lowest selected rank speaks for what all ranks see, the first rank that comes to it
// for what some of them may not see.
#pragma once

#include "session/state.h"

namespace profshim::session {

/// After the last window, before the claim is given back. The writer is done.
void say_how_it_went(State& state);

/// Writer thread: looks whether limits.disk_free is kept, now and then, and says once that windows are refused.
class DiskWatch {
 public:
  explicit DiskWatch(State& state) : s_(state) {}
  /// `soon`: a window may open at the next step.
  void look(bool soon);

 private:
  State& s_;
  std::int64_t looked_ns_ = 0;
  bool was_soon_ = false, said_ = false;
};
/// One look at the disk. Any thread that may wait for a file system.
void look_at_disk(State& state);

/// A window could not be written. Writer thread.
void say_window_failed(State& state, const output::ManifestWindow& window);

}  // namespace profshim::session
