#include "profshim/perf_counters.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "profshim/base/files.h"
#include "profshim/base/text/message_text.h"

namespace profshim {
namespace {

struct EventKind {
  std::uint32_t type;
  std::uint64_t config;
};
/// By PerfCounter.
constexpr std::array<EventKind, kPerfCounters> kKinds = {{
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
}};

std::string name_of(PerfCounter counter) {
  return std::string(kPerfCounterNames[static_cast<std::size_t>(counter)].name);
}

bool is_refused(int error) { return error == EACCES || error == EPERM; }

/// Returns a descriptor or, on failure, -errno.
int open_event(PerfCounter counter, int leader, bool user_only) {
  const EventKind& kind = kKinds[static_cast<std::size_t>(counter)];
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = kind.type;
  attributes.config = kind.config;
  // Linux counts the task clock of an event that is opened running from its last clock tick (seen with 6.18).
  attributes.disabled = leader < 0 ? 1 : 0;
  attributes.exclude_kernel = user_only ? 1 : 0;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  const auto fd = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC));
  return fd < 0 ? -errno : moved_high(fd);
}

std::string paranoid_level() {
  std::string text;
  int error = 0;
  if (!read_file("/proc/sys/kernel/perf_event_paranoid", text, error))
    return "/proc/sys/kernel/perf_event_paranoid cannot be read";
  return "/proc/sys/kernel/perf_event_paranoid is " + text.substr(0, text.find('\n'));
}

std::string reason_of(int error, const std::string& beside) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return "this machine does not count them (a virtual machine may have no hardware counters)";
    case ENOSYS:
      return "the kernel or a seccomp filter has no perf_event_open()";
    case EINVAL:
      if (beside.empty()) break;
      return "the processor cannot count them together with " + beside + "; name fewer in counters.perf";
    case EACCES:
    case EPERM:
      return "the kernel refuses perf_event_open(): " + paranoid_level() +
             "; above 1 it needs CAP_PERFMON, and a container may refuse it in any case";
    default:
      break;
  }
  return std::string("perf_event_open() failed: ") + error_text(error);
}

}  // namespace

PerfReading PerfReading::since(const PerfReading& earlier) const {
  PerfReading grown;
  if (enabled_ns < earlier.enabled_ns || ran_ns < earlier.ran_ns) return grown;
  grown.enabled_ns = enabled_ns - earlier.enabled_ns;
  grown.ran_ns = ran_ns - earlier.ran_ns;
  for (std::size_t n = 0; n < kPerfCounters; ++n) {
    if (!earlier.knows(n) || !knows(n) || values[n] < earlier.values[n]) continue;
    grown.values[n] = values[n] - earlier.values[n];
    grown.known |= std::uint64_t{1} << n;
  }
  return grown;
}

// The job may have closed the descriptor, and a file of its own may have the number.
bool PerfCounters::Open::is_ours() const {
  std::uint64_t now = 0;
  return ioctl(fd, PERF_EVENT_IOC_ID, &now) == 0 && now == id;
}

std::string PerfCounters::names_of(std::span<const Open> members) {
  std::string names;
  for (const Open& member : members) names += (names.empty() ? "" : ", ") + name_of(member.counter);
  return names;
}

std::vector<std::string> PerfCounters::open(std::span<const PerfCounter> wanted) {
  close();
  is_open_ = true;
  std::vector<std::string> losses;
  std::string user_only;
  for (const PerfCounter counter : wanted) {
    Group& group = groups_[is_of_hardware(counter) ? 1 : 0];
    const int leader = group.size == 0 ? -1 : group.members[0].fd;
    // A thread is switched in the kernel: without the kernel's share, the count is always 0.
    const bool may_omit_kernel = counter != PerfCounter::kContextSwitches;
    bool omits_kernel = may_omit_kernel && !user_only.empty();
    int fd = open_event(counter, leader, omits_kernel);
    if (is_refused(-fd) && may_omit_kernel && !omits_kernel) fd = open_event(counter, leader, omits_kernel = true);
    if (fd < 0) {
      losses.push_back(name_of(counter) +
                       " cannot be shown: " + reason_of(-fd, names_of(std::span(group.members).first(group.size))));
      continue;
    }
    Open& opened = group.members[group.size++] = {counter, fd};
    ioctl(fd, PERF_EVENT_IOC_ID, &opened.id);
    if (omits_kernel) user_only += (user_only.empty() ? "" : ", ") + name_of(counter);
  }
  for (const Group& group : groups_) {
    if (group.size > 0) ioctl(group.members[0].fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
  }
  if (!user_only.empty()) {
    losses.push_back("the kernel's share is not in " + user_only + ": " + paranoid_level() +
                     "; above 1 it needs CAP_PERFMON");
  }
  return losses;
}

void PerfCounters::close() {
  for (Group& group : groups_) {
    for (const Open& member : std::span(group.members).first(group.size)) {
      if (member.is_ours()) ::close(member.fd);
    }
    group = {};
  }
  is_open_ = false;
}

PerfReading PerfCounters::read() const {
  PerfReading reading;
  for (const Group& group : groups_) read(group, reading);
  return reading;
}

void PerfCounters::read(const Group& group, PerfReading& reading) {
  struct {
    std::uint64_t counters, enabled_ns, ran_ns, values[kPerfCounters];
  } out{};
  if (group.size == 0 || !group.members[0].is_ours()) return;
  const ssize_t bytes = ::read(group.members[0].fd, &out, sizeof out);
  if (bytes != static_cast<ssize_t>((3 + group.size) * sizeof(std::uint64_t)) || out.counters != group.size) return;
  for (std::size_t i = 0; i < group.size; ++i) {
    const auto n = static_cast<std::size_t>(group.members[i].counter);
    reading.values[n] = out.values[i];
    reading.known |= std::uint64_t{1} << n;
  }
  if (!is_of_hardware(group.members[0].counter)) return;
  reading.enabled_ns = out.enabled_ns;
  reading.ran_ns = out.ran_ns;
}

}  // namespace profshim
