// CPU use of the process and the machine while a window was open. `profshim compare` uses it to tell a slower program
// from one that had to wait for a CPU.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

#include "profshim/window_trace.h"

namespace profshim::session {

/// Values of cumulative counters at one moment.
struct CpuReading {
  std::int64_t at_ns = 0;
  std::int64_t process_ns = 0;  // CPU time of the process
  std::int64_t busy_ns = 0;     // all CPUs of the machine
  std::int64_t stolen_ns = 0;   // all CPUs: the virtual machine was ready to run, but its host did something else
  std::unordered_map<pid_t, std::int64_t> waited_ns;  // by thread: ready to run while something else ran
};

/// Reads the counters from /proc. Returns nothing if the kernel does not count them (no CONFIG_SCHED_INFO, a sandbox).
/// Takes about 6 us per thread, so only our own threads may call it. `ours`: threads that are not the job's.
std::optional<CpuReading> read_cpu(std::span<const pid_t> ours);

/// Returns the CPU use between two readings. Ignores threads that are not in both, such as our compressing threads.
kineto::CpuUse cpu_between(const CpuReading& begin, const CpuReading& end);

/// Hands the readings of each window from the collector to the writer.
class WindowCpu {
 public:
  /// Takes the readings when a window opens and closes. `window`: the open window; kNone = none. Collector, each tick.
  void tick(std::uint64_t window, std::span<const pid_t> ours);
  /// Returns the use of a closed window; nothing if it was open for less than a tick. Writer, once for each window.
  std::optional<kineto::CpuUse> take(std::uint64_t window, std::span<const pid_t> ours);

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
