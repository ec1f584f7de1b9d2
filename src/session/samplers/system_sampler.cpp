#include "system_sampler.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstring>

#include "proc_text.h"
#include "profshim/base/clock.h"
#include "profshim/base/text/message_text.h"

namespace profshim::session {
namespace {

constexpr const char* kPaths[] = {"/proc/stat", "/proc/self/status", "/proc/meminfo",
                                  "",           "/proc/self/io",     "/proc/self/net/dev"};

std::uint64_t microseconds(const timeval& t) {
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(t.tv_usec);
}

std::optional<double> percent(std::optional<double> microseconds_per_second) {
  if (microseconds_per_second) *microseconds_per_second /= 10'000;
  return microseconds_per_second;
}

}  // namespace

SystemSampler::SystemSampler(const Spec::System& wanted) : wanted_(wanted), times_(wanted.interval_seconds) {
  static_assert(std::size(kPaths) == kFiles);
  if (!any()) return;
  text_ = std::make_unique<std::array<char, 65536>>();
  for (std::size_t i = 0; i < kFiles; ++i) files_[i].set_path(kPaths[i]);
}

void SystemSampler::tick(bool is_open, std::uint64_t windows) {
  if (!any() || (!is_open && !is_open_)) return;
  if (!is_open) return end();
  const std::int64_t now_ns = monotonic_ns();
  if (!is_open_) begin();
  if (!is_open_ || windows != windows_) times_.begin(now_ns);
  is_open_ = true;
  windows_ = windows;
  if (now_ns < times_.next_ns()) return;
  sample(now_ns);
  times_.taken(now_ns);
}

void SystemSampler::begin() {
  for (Rate* const rate :
       {&process_cpu_, &process_system_cpu_, &disk_read_, &disk_written_, &net_received_, &net_sent_}) {
    rate->forget();
  }
  machine_before_.reset();
  if (wanted_.memory) file_of(File::kCgroup).set_path(limited_memory_file());
}

void SystemSampler::end() {
  for (ProcFile& file : files_) file.close();
  is_open_ = false;
}

void SystemSampler::sample(std::int64_t now_ns) {
  block_.set_time(ticks());
  if (wanted_.cpu) {
    sample_process_cpu(now_ns);
    sample_machine_cpu();
  }
  if (wanted_.cpu || wanted_.memory) sample_status();
  if (wanted_.memory) {
    sample_machine_memory();
    sample_cgroup();
  }
  if (wanted_.disk) sample_disk(now_ns);
  if (wanted_.net) sample_net(now_ns);
}

void SystemSampler::sample_process_cpu(std::int64_t now_ns) {
  rusage use{};
  if (getrusage(RUSAGE_SELF, &use) != 0) return;
  const std::uint64_t in_kernel = microseconds(use.ru_stime);
  add_if(SystemCounter::kProcessCpu, percent(process_cpu_.next(microseconds(use.ru_utime) + in_kernel, now_ns)));
  add_if(SystemCounter::kProcessSystemCpu, percent(process_system_cpu_.next(in_kernel, now_ns)));
}

void SystemSampler::sample_machine_cpu() {
  constexpr std::string_view kLost = "CPU use of the machine";
  const std::string_view text = read(File::kStat, kLost);
  if (text.empty()) return;
  const std::optional<MachineTicks> now = parse_machine_ticks(text), before = machine_before_;
  if (!now) return say(File::kStat, "has no times of the CPUs", kLost);
  machine_before_ = now;
  // The kernel's times of idle CPUs may go back.
  if (!before || now->all <= before->all || now->busy < before->busy) return;
  const auto busy = static_cast<double>(now->busy - before->busy);
  block_.add(SystemCounter::kMachineCpu, std::min(100.0, 100 * busy / static_cast<double>(now->all - before->all)));
}

void SystemSampler::sample_status() {
  const std::string_view lost = !wanted_.memory ? "number of threads"
                                : wanted_.cpu   ? "memory and number of threads"
                                                : "memory of the process";
  const std::string_view text = read(File::kStatus, lost);
  if (text.empty()) return;
  const ProcessStatus status = parse_status(text);
  if (wanted_.cpu) add_if(SystemCounter::kProcessThreads, status.threads);
  if (wanted_.memory) {
    add_if(SystemCounter::kProcessMemory, status.memory_bytes);
    add_if(SystemCounter::kProcessMemoryPeak, status.peak_bytes);
  }
  const bool has_memory = status.memory_bytes && status.peak_bytes;
  if ((wanted_.cpu && !status.threads) || (wanted_.memory && !has_memory))
    say(File::kStatus, "lacks lines that proc(5) describes", lost);
}

void SystemSampler::sample_machine_memory() {
  constexpr std::string_view kLost = "available memory of the machine";
  const std::string_view text = read(File::kMeminfo, kLost);
  if (text.empty()) return;
  const std::optional<std::uint64_t> available = parse_available(text);
  if (!available) return say(File::kMeminfo, "has no MemAvailable", kLost);
  add_if(SystemCounter::kMachineMemory, available);
}

void SystemSampler::sample_cgroup() {
  if (file_of(File::kCgroup).path().empty()) return;
  constexpr std::string_view kLost = "memory of the cgroup";
  const std::string_view text = read(File::kCgroup, kLost);
  if (text.empty()) return;
  const std::optional<std::uint64_t> used = parse_number(text);
  if (!used) return say(File::kCgroup, "holds no number", kLost);
  add_if(SystemCounter::kCgroupMemory, used);
}

void SystemSampler::sample_disk(std::int64_t now_ns) {
  constexpr std::string_view kLost = "disk reads and writes of the process";
  const std::string_view text = read(File::kIo, kLost);
  if (text.empty()) return;
  const std::optional<TwoCounts> bytes = parse_io(text);
  if (!bytes) return say(File::kIo, "has no read_bytes and write_bytes", kLost);
  add_if(SystemCounter::kDiskRead, disk_read_.next(bytes->in, now_ns));
  add_if(SystemCounter::kDiskWritten, disk_written_.next(bytes->out, now_ns));
}

void SystemSampler::sample_net(std::int64_t now_ns) {
  constexpr std::string_view kLost = "bytes that the network received and sent";
  const std::string_view text = read(File::kNet, kLost);
  if (text.empty()) return;
  const std::optional<TwoCounts> bytes = parse_net(text);
  if (!bytes || text.size() == text_->size()) return say(File::kNet, "has other lines than proc(5) describes", kLost);
  add_if(SystemCounter::kNetReceived, net_received_.next(bytes->in, now_ns));
  add_if(SystemCounter::kNetSent, net_sent_.next(bytes->out, now_ns));
}

std::string_view SystemSampler::read(File file, std::string_view lost) {
  const std::optional<std::string_view> text = file_of(file).read(*text_);
  if (!text) {
    say(file, std::string("cannot be read (") + error_text(file_of(file).error()) + ")", lost);
  } else if (text->empty()) {
    say(file, "is empty", lost);
  }
  return text.value_or("");
}

void SystemSampler::say(File file, std::string_view what, std::string_view lost) {
  bool& said = said_[static_cast<std::size_t>(file)];
  if (said) return;
  said = true;
  recorder::missing("system",
                    file_of(file).path() + " " + std::string(what) + ": " + std::string(lost) + " cannot be shown");
}

}  // namespace profshim::session
