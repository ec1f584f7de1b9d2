#include "profshim/base/threads/signal_guard.h"

#include <pthread.h>
#include <time.h>

#include <cerrno>
#include <initializer_list>

namespace profshim {

SignalGuard::SignalGuard() {
  sigset_t pending;
  sigemptyset(&ours_);
  sigpending(&pending);
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    if (sigismember(&pending, signal) == 0) sigaddset(&ours_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &ours_, &before_);
}

SignalGuard::~SignalGuard() {
  const int saved_errno = errno;
  const timespec at_once{};
  while (sigtimedwait(&ours_, nullptr, &at_once) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = saved_errno;
}

}  // namespace profshim
