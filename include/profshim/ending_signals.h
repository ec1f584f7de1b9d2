// Catches signals that would end the process at once (SIGTERM, SIGINT, ...), so that the traces are written first. A
// signal is caught only while recording and only where the job left its default action. The job cannot tell:
// sigaction() and its kin return the action that the job has set, and the process ends by the signal that came.
#pragma once

#include <signal.h>

#include <cstdint>

namespace profshim::ending_signals {

/// Catches each signal that has its default action, also when the job restores that action later. The process ends by
/// the signal after at most `limit_ns`, even if the traces are not written. Does nothing in process 1 of a container,
/// for which the kernel drops these signals. Once per process; any thread.
void begin(std::int64_t limit_ns);
/// Restores the default actions. A later signal ends the process at once. Any thread of the same process.
void end();
/// Restores the default actions in the child of a fork().
void end_in_child();

/// Returns the caught signal that is to end the process; 0 = none. Any thread.
int arrived();
/// Returns the arrival time of that signal, by monotonic_ns().
std::int64_t arrived_at_ns();
/// Ends the process by the signal that has arrived. Returns only if a debugger takes the signal away. Any thread.
void end_process();

/// Blocks the caught signals for the calling thread, which is about to wait for the writer; the destructor unblocks
/// them. look() counts a blocked signal of this thread as arrived.
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

/// Restores the job's own action for `signal` around a call of the job that asks for the action or changes it. The
/// destructor catches the signal again if it has its default action then. Any thread, signal handlers and children
/// included.
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
