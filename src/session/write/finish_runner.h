#pragma once

#include <string>
#include <vector>

#include "profshim/ending_signals.h"
#include "profshim/output/finish_command.h"
#include "session/state.h"

namespace profshim::session {

/// Runs finish.command for this rank: in tick() on the writer thread, and after its end in at_end() on the ending
/// thread.
class FinishRunner {
 public:
  /// Call on a thread of the job: copies the environment, which the job may change at any time.
  explicit FinishRunner(State& state);
  /// With finish.after = "window", runs the command for the traces that it has not had yet, one command at a time.
  void tick();
  /// Runs the command if it has not had all traces, and waits for it: until finish.timeout_seconds, and no longer than
  /// output.exit_seconds if the job does not end normally. The command goes on if the wait ends first. With
  /// finish.ranks, it first waits up to 10 s for the last files of the other ranks of the host.
  void at_end(End how, const ending_signals::Blocked& blocked);

 private:
  void start(const char* status);
  void note_outcome(const std::string& outcome);
  bool wait(End how, const ending_signals::Blocked& blocked);
  /// Returns false if `condition` still holds after `most_ns`, or after output.exit_seconds if the job does not end
  /// normally.
  template <typename Condition>
  bool wait_while(std::int64_t most_ns, End how, const ending_signals::Blocked& blocked, Condition condition);
  void write_manifest();

  State& s_;
  const std::vector<std::string> environment_;
  output::FinishCommand command_;
  std::vector<std::string> given_;  // traces that the running command has
};

}  // namespace profshim::session
