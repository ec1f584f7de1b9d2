// Signals that would end the process at once (SIGTERM, SIGINT, ...): while recording they are caught where the job left
// the default action, so that the traces are written first. The job cannot tell: sigaction() and its kin answer with
// the action that the job has set, and the process ends by that signal.
#pragma once

#include <signal.h>

#include <cstdint>

namespace profshim::ending_signals {

/// Catches what the job has left at its default; from then on `job_left_default` again whenever it goes back to that.
/// `limit_ns`: the process ends by the signal after that time, come what may. Does nothing in process 1 of a container,
/// for which the kernel drops these signals. Once per process; any thread.
void begin(std::int64_t limit_ns);
/// Gives the default action back. A signal that comes later ends the process at once. Any thread of the same process.
void end();
/// The child of a fork(): default actions again.
void end_in_child();

/// The signal that has come and that nobody but us waits for; 0 = none. Any thread.
int arrived();
/// When it came, by monotonic_ns().
std::int64_t arrived_at_ns();
/// Ends the process by the signal that has arrived. Returns only where a debugger takes the signal away. Any thread.
void end_process();

/// Blocks what is caught for the calling thread, which is about to wait for the writer, and lets it in again at the
/// end. What comes meanwhile for this thread counts as arrived when look() is called.
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

/// Puts back what the job has set for `signal` around a call of the job's that asks for it or changes it; catches the
/// signal again afterwards if it then has its default action. Any thread, signal handlers and children included.
class StepAside {
 public:
  explicit StepAside(int signal);
  ~StepAside();
  StepAside(const StepAside&) = delete;
  StepAside& operator=(const StepAside&) = delete;

 private:
  int signal_ = 0;  // 0: nothing to do afterwards
  sigset_t before_;
};

}  // namespace profshim::ending_signals
