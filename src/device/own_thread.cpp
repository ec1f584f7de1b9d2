#include "own_thread.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace profshim::device {
namespace {
constexpr std::size_t kStack = 1 << 20;

long futex(const std::atomic<std::uint32_t>* word, int operation, std::uint32_t value, const timespec* timeout) {
  static_assert(sizeof(std::atomic<std::uint32_t>) == 4);
  const int saved = errno;
  const long result = syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, timeout, nullptr, 0);
  errno = saved;
  return result;
}
}  // namespace

void Bell::ring() {
  rings_.fetch_add(1, std::memory_order_release);
  futex(&rings_, FUTEX_WAKE, INT_MAX, nullptr);
}

void Bell::wait(std::uint32_t seen, std::int64_t timeout_ns) {
  if (now() != seen) return;
  timespec timeout{};
  timeout.tv_sec = timeout_ns / 1'000'000'000;
  timeout.tv_nsec = timeout_ns % 1'000'000'000;
  futex(&rings_, FUTEX_WAIT, seen, timeout_ns < 0 ? nullptr : &timeout);
}

bool start_own_thread(void* (*body)(void*), void* argument) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, kStack);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int refused = pthread_create(&thread, &attributes, body, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return refused == 0;
}

}  // namespace profshim::device
