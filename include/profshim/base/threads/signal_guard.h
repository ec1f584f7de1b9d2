// Protects the job from signals of our writes: SIGPIPE (stderr is a pipe without a reader) and SIGXFSZ (RLIMIT_FSIZE)
// end a process by default. Thread-safe.
#pragma once

#include <signal.h>

namespace profshim {

class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();  // discards such signals raised meanwhile; preserves errno
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  sigset_t ours_, before_;
};

}  // namespace profshim
