#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "profshim/base/files.h"

namespace profshim::write {

/// A child that the process around it does not notice: it raises no SIGCHLD, and no wait() of the job sees it. It runs
/// in a session of its own, with default signal handlers, and outlives the process. Not thread-safe.
class QuietChild {
 public:
  /// `arguments`: first the program's path. `environment`: all of it. stdout and stderr of the child go to `output`,
  /// above 3. The child finds the write end of a pipe as descriptor 3. Returns 0 or errno.
  int start(const std::vector<std::string>& arguments, const std::vector<std::string>& environment, int output);
  bool is_running() const { return static_cast<bool>(pipe_); }
  /// Returns the text that came through the pipe once all writers have closed it; nothing before. Returns kLostPipe if
  /// the job has closed the pipe, or replaced it by a file of its own, which is neither read nor closed. Does not
  /// block.
  std::optional<std::string> poll();
  static constexpr char kLostPipe[] = "lost";

 private:
  Descriptor pipe_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::string text_;
};

}  // namespace profshim::write
