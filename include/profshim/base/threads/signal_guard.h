// Keeps signals of our work away from the job, and signals of the job away from our work.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace profshim {

/// Protects the job from signals of our writes: SIGPIPE (stderr is a pipe without a reader) and SIGXFSZ (RLIMIT_FSIZE)
/// end a process by default. Thread-safe.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();  // discards such signals raised meanwhile; preserves errno
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  sigset_t ours_, before_;
};

// Keeps the job's signal handlers and cancellation away from a thread of the job while it holds a lock or makes files.
// A handler may call exit(), which would need that lock, or leave by siglongjmp().

/// Not for hooks: two system calls. Lets signals through that report a fault of the thread, or stop or dump the
/// process.
class Uninterrupted {
 public:
  Uninterrupted();
  ~Uninterrupted() noexcept(false);  // may cancel the thread
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;

 private:
  sigset_t before_;
  int cancel_state_ = 0;
};

/// Starts a thread of ours with all signals blocked: a signal handler of the job must never run on our threads. Returns
/// 0 or an errno.
int start_thread(pthread_t& thread, void* (*body)(void*), void* argument);
/// True on a thread that start_thread() has started.
bool is_own_thread();

}  // namespace profshim
