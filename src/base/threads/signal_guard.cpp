#include "profshim/base/threads/signal_guard.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <cerrno>
#include <cstddef>
#include <initializer_list>
#include <new>

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

namespace {

struct Start {
  void* (*body)(void*);
  void* argument;
};

thread_local constinit bool is_own = false;

void* run_own_thread(void* argument) {
  const Start start = *static_cast<Start*>(argument);
  delete static_cast<Start*>(argument);
  is_own = true;
  return start.body(start.argument);
}

}  // namespace

bool is_own_thread() { return is_own; }

int start_thread(pthread_t& thread, void* (*body)(void*), void* argument) {
  constexpr std::size_t kStack = 1 << 20;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_attr_t attributes;
  if (const int refused = pthread_attr_init(&attributes); refused != 0) return refused;
  pthread_attr_setstacksize(&attributes, kStack);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  auto* const start = new (std::nothrow) Start{body, argument};
  const int refused = start != nullptr ? pthread_create(&thread, &attributes, run_own_thread, start) : ENOMEM;
  if (refused != 0) delete start;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return refused;
}

}  // namespace profshim
