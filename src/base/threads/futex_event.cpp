#include "profshim/base/threads/futex_event.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace profshim {
namespace {

long futex(const std::atomic<std::uint32_t>* word, int operation, std::uint32_t value, const timespec* timeout) {
  static_assert(sizeof(std::atomic<std::uint32_t>) == 4);
  const int saved = errno;  // the caller may be inside a call of the job
  const long result = syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, timeout, nullptr, 0);
  errno = saved;
  return result;
}

}  // namespace

void FutexEvent::notify_all() {
  count_.fetch_add(1, std::memory_order_release);
  futex(&count_, FUTEX_WAKE, INT_MAX, nullptr);
}

void FutexEvent::wait(std::uint32_t seen, std::int64_t timeout_ns) {
  if (count() != seen) return;
  timespec timeout{};
  timeout.tv_sec = timeout_ns / 1'000'000'000;
  timeout.tv_nsec = timeout_ns % 1'000'000'000;
  futex(&count_, FUTEX_WAIT, seen, timeout_ns < 0 ? nullptr : &timeout);
}

}  // namespace profshim
