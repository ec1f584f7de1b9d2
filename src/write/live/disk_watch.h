#pragma once

#include "profshim/spool/view.h"
#include "profshim/write/writer.h"

namespace profshim::write {

/// Watches limits.disk_free: no window is opened on a full disk. Writer thread.
class DiskWatch {
 public:
  DiskWatch(const WritePlan& plan, WindowQueue& queue, LiveRecording& recording, const spool::View& view)
      : plan_(plan), queue_(queue), recording_(recording), view_(view) {}
  /// `soon`: a window may open at the next step.
  void check(bool soon);

 private:
  const WritePlan& plan_;
  WindowQueue& queue_;
  LiveRecording& recording_;
  const spool::View& view_;
  std::int64_t checked_ns_ = 0;
  bool was_soon_ = false, is_said_ = false;
};

}  // namespace profshim::write
