#pragma once

#include "session/state.h"

namespace profshim::session {

/// Call after the writer has ended, before the claim on the rank is released.
void log_outcome(State& state);

/// Runs on the writer thread.
class DiskWatch {
 public:
  explicit DiskWatch(State& state) : s_(state) {}
  /// `soon`: a window may open at the next step.
  void check(bool soon);

 private:
  State& s_;
  std::int64_t checked_ns_ = 0;
  bool was_soon_ = false, said_ = false;
};
/// May wait for the file system.
void check_disk(State& state);

void log_window_failed(State& state, const output::ManifestWindow& window);

}  // namespace profshim::session
