#include "cpu_limit.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>

#include "profshim/base/text/number_text.h"

namespace profshim::cpu_limit {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

/// User and system time of this process, as the kernel counts it for RLIMIT_CPU. CLOCK_PROCESS_CPUTIME_ID counts
/// otherwise. Layout: include/linux/posix-timers_types.h (CPUCLOCK_PROF = 0, process 0 = the caller).
constexpr clockid_t kLimitedTime = ~clockid_t{0} * 8;

std::int64_t used_ns() {
  timespec t{};
  if (syscall(SYS_clock_gettime, kLimitedTime, &t) != 0) return 0;
  return t.tv_sec * kSecond_ns + t.tv_nsec;
}

std::int64_t limit_ns(rlim_t seconds) {
  constexpr auto kMost = static_cast<rlim_t>(kNone / kSecond_ns);
  return seconds > kMost ? kNone : static_cast<std::int64_t>(seconds) * kSecond_ns;
}

/// True for our threads, and for threads that they have started and that inherit the name.
bool is_ours(const char* tid) {
  char path[64] = "/proc/self/task/", name[16] = {};
  std::strcat(std::strcat(path, tid), "/comm");
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  syscall(SYS_read, fd, name, sizeof name - 1);
  syscall(SYS_close, fd);
  return std::strncmp(name, "profshim-", 9) == 0;
}

struct Directory {
  unsigned long long inode, next;
  unsigned short size;
  unsigned char type;
  char name[1];
};

/// Calls function(thread, is_ours) for each thread of the process.
template <class Function>
void for_each_thread(Function function) {
  const long folder = syscall(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  alignas(Directory) char entries[4096];
  for (long bytes; (bytes = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;) {
    for (long at = 0; at < bytes;) {
      const auto& entry = *reinterpret_cast<const Directory*>(entries + at);
      const char* const tid = reinterpret_cast<const char*>(&entry) + offsetof(Directory, name);
      if (const auto thread = leading_number<int>(tid); thread > 0) function(thread, is_ours(tid));
      at += entry.size;
    }
  }
  syscall(SYS_close, folder);
}

/// Moves all threads to one CPU, where those of the job run only while nothing else wants to: a thread of the job may
/// hold a lock that the writer needs. The process then uses at most one second of CPU time per second.
void throttle_job() {
  unsigned cpu = 0;
  if (syscall(SYS_getcpu, &cpu, nullptr, nullptr) != 0 || cpu >= CPU_SETSIZE) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  for_each_thread([&one](int thread, bool is_ours) {
    const sched_param none{};
    if (!is_ours) syscall(SYS_sched_setscheduler, thread, SCHED_IDLE, &none);
    syscall(SYS_sched_setaffinity, thread, sizeof one, &one);
  });
}

/// Ends the real-time priority of the job's threads: the kernel then counts no time for RLIMIT_RTTIME, and the writer
/// gets a CPU.
void end_real_time() {
  for_each_thread([](int thread, bool is_ours) {
    const long policy = syscall(SYS_sched_getscheduler, thread) & ~SCHED_RESET_ON_FORK;
    const sched_param none{};
    if (!is_ours && (policy == SCHED_FIFO || policy == SCHED_RR))
      syscall(SYS_sched_setscheduler, thread, SCHED_OTHER, &none);
  });
}

}  // namespace

std::int64_t left_ns(bool soft) {
  rlimit limit{};
  if (getrlimit(RLIMIT_CPU, &limit) != 0) return kNone;
  const std::int64_t until = limit_ns(soft ? limit.rlim_cur : limit.rlim_max);
  return until == kNone ? kNone : until - used_ns();
}

void spare_time() {
  if (left_ns(false) != kNone) {
    throttle_job();
  } else {  // on a busy machine, a throttled thread gets no CPU for seconds, nor does a thread that waits for its lock
    end_real_time();
  }
}

bool send_last_signal() {
  rlimit limit{};
  if (getrlimit(RLIMIT_CPU, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return false;
  // Else the kernel repeats SIGXCPU after each second of CPU time.
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_CPU, &limit);
  struct sigevent event {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGXCPU;
  int timer = 0;
  if (syscall(SYS_timer_create, kLimitedTime, &event, &timer) != 0) return false;
  const std::int64_t at = limit_ns(limit.rlim_max) - kLastReserve_ns;
  itimerspec time{};
  time.it_value.tv_sec = at / kSecond_ns;
  time.it_value.tv_nsec = at % kSecond_ns;
  return syscall(SYS_timer_settime, timer, TIMER_ABSTIME, &time, nullptr) == 0;
}

}  // namespace profshim::cpu_limit
