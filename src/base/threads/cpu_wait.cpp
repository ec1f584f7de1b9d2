#include "profshim/base/threads/cpu_wait.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "profshim/base/clock.h"
#include "profshim/base/files.h"
#include "profshim/base/text/number_text.h"

namespace profshim {

namespace {

/// Reads a short file of the thread into `text`. Returns "" if there is none.
template <std::size_t size>
std::string_view read_of(pid_t tid, const char* file, char (&text)[size]) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/%s", static_cast<int>(tid), file);
  int cancel_state = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
  const Descriptor opened(open_high(path, O_RDONLY));
  const ssize_t length = opened ? read(opened.get(), text, size) : -1;
  pthread_setcancelstate(cancel_state, nullptr);
  return {text, length > 0 ? static_cast<std::size_t>(length) : 0};
}

struct SchedStat {
  std::int64_t ran_ns = 0, waited_ns = 0;
};

// schedstat has three numbers: time on a CPU (ns), time in the run queue (ns), time slices.
std::optional<SchedStat> sched_stat(pid_t tid) {
  char text[96];
  std::string_view numbers = read_of(tid, "schedstat", text);
  SchedStat stat;
  if (!take_number(numbers, stat.ran_ns) || !take_character(numbers, ' ') || !take_number(numbers, stat.waited_ns))
    return std::nullopt;
  return stat;
}

/// The third field of stat, after the name in brackets, is R for threads that run and for those that wait for a CPU.
bool is_runnable(pid_t tid) {
  char text[512];
  const std::string_view stat = read_of(tid, "stat", text);
  const std::size_t bracket = stat.rfind(')');
  return bracket != std::string_view::npos && stat.substr(bracket).starts_with(") R");
}

}  // namespace

std::optional<std::int64_t> waited_for_cpu_ns(pid_t tid) {
  const std::optional<SchedStat> stat = sched_stat(tid);
  if (!stat) return std::nullopt;
  return stat->waited_ns;
}

std::int64_t CpuWaits::look_ns(pid_t tid) {
  const std::optional<SchedStat> stat = tid == 0 ? SchedStat{} : sched_stat(tid);
  if (!stat) return 0;
  const std::int64_t now_ns = monotonic_ns();
  std::int64_t before_ns = ran_ns_.load();
  while (stat->ran_ns > before_ns && !ran_ns_.compare_exchange_weak(before_ns, stat->ran_ns)) {
  }
  if (stat->ran_ns > before_ns) changed_at_ns_.store(now_ns);
  const bool waits = tid == 0 || is_runnable(tid);
  return stat->waited_ns + (waits ? now_ns - std::min(changed_at_ns_.load(), now_ns) : 0);
}

}  // namespace profshim
