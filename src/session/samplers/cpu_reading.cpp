#include "cpu_reading.h"

#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "profshim/base/clock.h"
#include "profshim/base/files.h"
#include "profshim/base/text/number_text.h"
#include "profshim/base/threads/cpu_wait.h"

namespace profshim::session {
namespace {

template <std::size_t N>
std::size_t read_numbers(std::string_view text, std::array<std::int64_t, N>& numbers) {
  std::size_t found = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (found < N) {
    while (at != end && *at == ' ') ++at;
    const auto [next, error] = std::from_chars(at, end, numbers[found]);
    if (error != std::errc{}) break;
    at = next;
    ++found;
  }
  return found;
}

std::int64_t process_ns() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// Parses "cpu  user nice system idle iowait irq softirq steal ...": clock ticks of all CPUs (proc(5)).
bool read_machine(CpuReading& reading) {
  std::string text;
  int error = 0;
  if (!read_file("/proc/stat", text, error) || !text.starts_with("cpu ")) return false;
  std::array<std::int64_t, 8> n{};
  if (read_numbers(std::string_view(text).substr(4), n) < n.size()) return false;
  const std::int64_t tick_ns = 1'000'000'000 / std::max(1L, sysconf(_SC_CLK_TCK));
  reading.busy_ns = (n[0] + n[1] + n[2] + n[5] + n[6]) * tick_ns;
  reading.stolen_ns = n[7] * tick_ns;
  return true;
}

bool read_threads(CpuReading& reading, std::span<const pid_t> ours) {
  DIR* const tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return false;
  while (const dirent* const entry = readdir(tasks)) {
    const auto tid = leading_number<pid_t>(entry->d_name);
    if (tid <= 0 || std::find(ours.begin(), ours.end(), tid) != ours.end()) continue;
    if (const auto waited_ns = waited_for_cpu_ns(tid)) reading.waited_ns.emplace(tid, *waited_ns);
  }
  closedir(tasks);
  return !reading.waited_ns.empty();
}

}  // namespace

std::optional<CpuReading> read_cpu(std::span<const pid_t> ours) {
  CpuReading reading;
  reading.at_ns = monotonic_ns();
  reading.process_ns = process_ns();
  if (!read_machine(reading) || !read_threads(reading, ours)) return std::nullopt;
  return reading;
}

CpuUse cpu_between(const CpuReading& begin, const CpuReading& end) {
  CpuUse use;
  use.measured_us = static_cast<double>(end.at_ns - begin.at_ns) / 1000;
  use.process_us = static_cast<double>(end.process_ns - begin.process_ns) / 1000;
  use.machine_us = static_cast<double>(end.busy_ns - begin.busy_ns) / 1000;
  use.stolen_us = static_cast<double>(end.stolen_ns - begin.stolen_ns) / 1000;
  use.cpus = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  for (const auto& [tid, waited_ns] : end.waited_ns) {
    const auto before = begin.waited_ns.find(tid);
    // The thread id may have been reused.
    if (before != begin.waited_ns.end() && waited_ns >= before->second)
      use.waited_us += static_cast<double>(waited_ns - before->second) / 1000;
  }
  return use;
}

void WindowCpu::tick(std::uint64_t window, std::span<const pid_t> ours) {
  if (window == open_) return;
  const std::optional<CpuReading> now = read_cpu(ours);
  const std::lock_guard lock(mutex_);
  if (const auto closed = windows_.find(open_); closed != windows_.end()) closed->second.end = now;
  if (window != kNone && now) windows_[window].begin = now;
  open_ = window;
}

std::optional<CpuUse> WindowCpu::take(std::uint64_t window, std::span<const pid_t> ours) {
  Readings readings;
  {
    const std::lock_guard lock(mutex_);
    const auto at = windows_.find(window);
    if (at == windows_.end()) return std::nullopt;
    readings = std::move(at->second);
    windows_.erase(at);
  }
  // The collector has not ticked since the window closed, or the job is ending.
  if (!readings.end) readings.end = read_cpu(ours);
  if (!readings.end || readings.end->at_ns <= readings.begin->at_ns) return std::nullopt;
  return cpu_between(*readings.begin, *readings.end);
}

}  // namespace profshim::session
