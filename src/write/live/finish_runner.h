#pragma once

#include <string>
#include <vector>

#include "profshim/write/finish_command.h"
#include "written_windows.h"

namespace profshim::write {

/// Runs finish.command for this rank, if the spec asks for it: in tick() on the writer thread, and after its end in
/// at_end() on the thread that ends the recording.
class FinishRunner {
 public:
  /// Call on a thread of the job: copies the environment, which the job may change at any time.
  FinishRunner(const WritePlan& plan, WindowQueue& queue, WrittenWindows& windows);
  /// With finish.after = "window", runs the command for the traces that it has not had yet, one command at a time.
  void tick();
  /// See Writer::run_finish_command(). The command goes on if the wait ends first.
  void at_end(bool waits, const MayWait& may_wait);

 private:
  void start(const char* status);
  void note_outcome(const std::string& outcome);
  bool wait(const MayWait& may_wait);
  /// Returns false if `condition` still holds when the wait must end.
  template <typename Condition>
  bool wait_while(std::int64_t most_ns, const MayWait& may_wait, Condition condition);

  const WritePlan& plan_;
  WindowQueue& queue_;
  WrittenWindows& windows_;
  const bool is_wanted_;
  const std::vector<std::string> environment_;
  FinishCommand command_;
  std::vector<std::string> given_;  // traces that the running command has
  bool has_failed_ = false;         // in one of its runs
};

}  // namespace profshim::write
