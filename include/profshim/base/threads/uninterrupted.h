// Keeps the job's signal handlers and cancellation away from a thread of the job while it holds a lock or makes files.
// A handler may call exit(), which would need that lock, or leave by siglongjmp().
#pragma once

#include <signal.h>

namespace profshim {

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

}  // namespace profshim
