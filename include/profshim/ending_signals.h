// Catches signals that would end the process (SIGTERM, SIGINT, ...), so that the traces are written first. Only while
// recording, and only where the job left the default action. The job cannot tell: sigaction() and its kin return its
// action, and the process ends by the signal that came.
#pragma once

#include <signal.h>

#include <cstdint>

namespace profshim::ending_signals {

/// Catches signals with default action, also if the job restores it later. The process ends after at most `limit_ns`,
/// even without traces. Does nothing in process 1 of a container, for which the kernel drops these signals. Once per
/// process; any thread.
void begin(std::int64_t limit_ns);
/// Restores the default actions: a later signal ends the process at once. Any thread.
void end();
/// The same in the child of a fork().
void end_in_child();

/// The caught signal that is to end the process; 0 = none. Any thread.
int arrived();
/// By monotonic_ns().
std::int64_t arrived_at_ns();
/// Returns only if a debugger takes the signal away. Any thread.
void end_process();

/// Blocks the caught signals on a thread that waits for the writer. look() counts its blocked signals as arrived.
class Blocked {
 public:
  Blocked();
  ~Blocked();
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;
  void look() const;

 private:
  sigset_t before_, ours_;
};

/// Restores the job's action around a call that queries or sets it. The destructor catches the signal again if its
/// action is the default then. Any thread, also in signal handlers and children.
class StepAside {
 public:
  explicit StepAside(int signal);
  ~StepAside();
  StepAside(const StepAside&) = delete;
  StepAside& operator=(const StepAside&) = delete;

 private:
  int signal_ = 0;  // 0: the destructor does nothing
  sigset_t before_;
};

}  // namespace profshim::ending_signals
