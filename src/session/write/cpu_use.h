// What the process and its machine did with their CPUs while a window was open. It tells a program that has become
// slower from one that had to wait: `profshim compare` asks for it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

#include "profshim/spool.h"

namespace profshim::session {

/// Counters since something began, at one moment.
struct CpuReading {
  std::int64_t at_ns = 0;
  std::int64_t process_ns = 0;  // of CPU time
  std::int64_t busy_ns = 0;     // all CPUs of the machine
  std::int64_t stolen_ns = 0;   // likewise: ready to run here while the host of the virtual machine did not
  std::unordered_map<pid_t, std::int64_t> waited_ns;  // by thread: ready to run while something else ran
};

/// From /proc; nothing where the kernel does not count it (no CONFIG_SCHED_INFO, a sandbox). Some 6 us a thread: for
/// our own threads alone. `ours`: threads that are not the job's.
std::optional<CpuReading> read_cpu(std::span<const pid_t> ours);

/// Between two readings. A thread that was not there at both says nothing: those of ours that compress files come and
/// go.
spool::CpuUse cpu_between(const CpuReading& begin, const CpuReading& end);

/// The readings of all windows, from the collector to the writer.
class WindowCpu {
 public:
  /// Collector, each tick: which window is open, kNone = none.
  void tick(std::uint64_t window, std::span<const pid_t> ours);
  /// Writer, once for each closed window; nothing for one that was open for less than a tick.
  std::optional<spool::CpuUse> take(std::uint64_t window, std::span<const pid_t> ours);

  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

 private:
  struct Readings {
    std::optional<CpuReading> begin, end;
  };
  std::mutex mutex_;
  std::uint64_t open_ = kNone;  // collector
  std::map<std::uint64_t, Readings> windows_;
};

}  // namespace profshim::session
