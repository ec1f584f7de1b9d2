// Keeps what our own writes may raise away from the job: SIGPIPE (its stderr is a pipe that nobody reads any more) and
// SIGXFSZ (RLIMIT_FSIZE) would end it by default. Any thread; not for the hot path.
#pragma once

#include <signal.h>

namespace profshim {

class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();  // takes back what was raised meanwhile, unless it was pending before; errno is kept
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  sigset_t ours_, before_;
};

}  // namespace profshim
