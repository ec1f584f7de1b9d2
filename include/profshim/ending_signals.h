// Catches signals that would end the process (SIGTERM, SIGINT, ...), so that the traces are written first. The job does
// not notice: sigaction() and signal() return the job's action, and the process ends by the caught signal.
#pragma once

#include <signal.h>

#include <cstdint>

namespace profshim::ending_signals {

/// Catches signals that have the default action, now or later. A caught signal ends the process within `limit_ns` +
/// 1 s. Does nothing in process 1, for which the kernel drops these signals. Call once per process.
void begin(std::int64_t limit_ns);
/// Restores the default actions. Thread-safe.
void end();
/// Call in a forked child. Takes no lock.
void end_in_child();
/// Call in a child of any fork before begin().
void leave_parent();

/// Returns the caught signal; 0 = none. Thread-safe.
int arrived();
/// Time of the first caught signal, by monotonic_ns().
std::int64_t arrived_at_ns();
/// Ends the process by the first caught signal. Returns only if a debugger discards the signal. Thread-safe.
void end_process();

/// Blocks the caught signals on the thread that begins or ends the recording, since the handler may stop that thread.
/// look() treats pending signals as caught. It returns true if the process must end at once: a second request.
class Blocked {
 public:
  Blocked();
  ~Blocked();
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;
  bool look() const;

 private:
  sigset_t before_, ours_;
};

/// Restores the job's action while the job queries or sets it. The destructor catches the signal again if the action is
/// then the default. Works also in signal handlers and children.
class StepAside {
 public:
  explicit StepAside(int signal);
  ~StepAside();
  StepAside(const StepAside&) = delete;
  StepAside& operator=(const StepAside&) = delete;

 private:
  int signal_ = 0;
  sigset_t before_;
};

}  // namespace profshim::ending_signals
