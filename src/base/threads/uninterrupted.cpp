#include "profshim/base/threads/uninterrupted.h"

#include <pthread.h>

#include <initializer_list>

namespace profshim {

Uninterrupted::Uninterrupted() {
  sigset_t held;
  sigfillset(&held);
  for (const int signal :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT}) {
    sigdelset(&held, signal);
  }
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}

Uninterrupted::~Uninterrupted() noexcept(false) {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  pthread_setcancelstate(cancel_state_, nullptr);
}

}  // namespace profshim
