// A window's CPU use shows `profshim compare` whether a slower program only waited for a CPU.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

#include "profshim/window/costs.h"

namespace profshim::session {

struct CpuReading {
  std::int64_t at_ns = 0;
  std::int64_t process_ns = 0;
  std::int64_t busy_ns = 0;                           // of all processes
  std::int64_t stolen_ns = 0;                         // from this virtual machine
  std::unordered_map<pid_t, std::int64_t> waited_ns;  // per thread: ready, but not running
};

/// Returns nothing without /proc/stat or schedstat, as in a sandbox. Takes 6 us per thread, so only our threads may
/// call it.
std::optional<CpuReading> read_cpu(std::span<const pid_t> ours);

CpuUse cpu_between(const CpuReading& begin, const CpuReading& end);

class WindowCpu {
 public:
  /// The collector thread calls it at each tick, with the open window or kNone.
  void tick(std::uint64_t window, std::span<const pid_t> ours);
  /// Returns nothing for a window shorter than a tick, or a second time.
  std::optional<CpuUse> take(std::uint64_t window, std::span<const pid_t> ours);

  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

 private:
  struct Readings {
    std::optional<CpuReading> begin, end;
  };
  std::mutex mutex_;
  std::uint64_t open_ = kNone;
  std::map<std::uint64_t, Readings> windows_;
};

}  // namespace profshim::session
