#include "profshim/base/threads/loader_lock.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "profshim/base/clock.h"

namespace profshim {
namespace {

constexpr std::int64_t kMostWait_ns = 1'000'000'000;
constexpr long kPause_ns = 50'000;

constinit std::atomic<int> callers{0};  // threads that hold a ForksWait
constinit std::atomic<int> forks{0};    // threads in fork()
constinit std::atomic<std::int64_t> waited_ns{0};
thread_local constinit int depth __attribute__((tls_model("initial-exec"))) = 0;
thread_local constinit bool is_forking __attribute__((tls_model("initial-exec"))) = false;

/// Returns false if the process has waited enough. Preserves errno.
bool pause() {
  if (waited_ns.load(std::memory_order_relaxed) >= kMostWait_ns) return false;
  const std::int64_t began_ns = monotonic_ns();
  const timespec time{0, kPause_ns};
  const int saved_errno = errno;
  syscall(SYS_nanosleep, &time, nullptr);
  errno = saved_errno;
  waited_ns.fetch_add(monotonic_ns() - began_ns, std::memory_order_relaxed);
  return true;
}

int own_callers() { return depth > 0 ? 1 : 0; }

void before_fork() {
  is_forking = true;
  forks.fetch_add(1);
  while (callers.load() > own_callers() && pause()) {
  }
}

void after_fork_in_parent() {
  forks.fetch_sub(1);
  is_forking = false;
}

void after_fork_in_child() {
  forks.store(0);
  callers.store(own_callers());
  is_forking = false;
}

}  // namespace

// Fork handlers of the job may call our hooks.
ForksWait::ForksWait() {
  if (depth++ > 0) return;
  callers.fetch_add(1);
  while (!is_forking && forks.load() > 0) {
    callers.fetch_sub(1);
    const bool may_wait = pause();
    callers.fetch_add(1);
    if (!may_wait) break;
  }
}

ForksWait::~ForksWait() {
  if (--depth == 0) callers.fetch_sub(1);
}

int visit_loaded_files(int (*visit)(dl_phdr_info*, std::size_t, void*), void* argument) {
  const ForksWait during_the_call;
  return dl_iterate_phdr(visit, argument);
}

void make_forks_wait() { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

}  // namespace profshim
