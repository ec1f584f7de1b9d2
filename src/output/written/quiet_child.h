#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "profshim/base/safe_files.h"

namespace profshim::output {

/// A child that the process around it does not notice: it raises no SIGCHLD, and no wait() of the job sees it. It runs
/// in a session of its own, with default signal handlers, and outlives the process. Not thread-safe.
class QuietChild {
 public:
  /// `arguments`: first the program's path. `environment`: all of it. stdout and stderr of the child go to `output`,
  /// above 3. The child finds the write end of a pipe as descriptor 3. Returns 0 or errno.
  int start(const std::vector<std::string>& arguments, const std::vector<std::string>& environment, int output);
  bool is_running() const { return static_cast<bool>(pipe_); }
  /// Text that came through the pipe, once it is closed by all; nothing while it is open. Does not block.
  std::optional<std::string> poll();

 private:
  Descriptor pipe_;
  std::string text_;
};

}  // namespace profshim::output
