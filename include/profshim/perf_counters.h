// Counters of one thread, by perf_event_open(2). Names are those of the spec's counters.perf.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace profshim {

enum class PerfCounter : std::uint8_t {
  kInstructions,
  kCycles,
  kLlcReferences,
  kLlcMisses,
  kBranches,
  kBranchMisses,
  kPageFaults,
  kContextSwitches,
  kTaskClock,
};
inline constexpr std::size_t kPerfCounters = 9;

struct PerfCounterName {
  std::string_view name;
  std::string_view arg;  // of a step's event; a time is in microseconds
  std::string_view column, title;
  bool is_time = false;  // counts nanoseconds
};
/// By PerfCounter.
inline constexpr std::array<PerfCounterName, kPerfCounters> kPerfCounterNames = {{
    {"instructions", "instructions", "instructions", "Instructions"},
    {"cycles", "cycles", "cycles", "Cycles"},
    {"llc_references", "llc_references", "llc_references", "LLC references"},
    {"llc_misses", "llc_misses", "llc_misses", "LLC misses"},
    {"branches", "branches", "branches", "Branches"},
    {"branch_misses", "branch_misses", "branch_misses", "Branch misses"},
    {"page_faults", "page_faults", "page_faults", "Page faults"},
    {"context_switches", "context_switches", "context_switches", "Switches"},
    {"task_clock", "task_clock (us)", "task_clock_us", "Task clock", true},
}};

/// True if the processor counts it, false if the kernel does.
constexpr bool is_of_hardware(PerfCounter counter) { return counter < PerfCounter::kPageFaults; }

/// Plain words: goes through the spool.
struct PerfReading {
  std::array<std::uint64_t, kPerfCounters> values{};
  std::uint64_t known = 0;  // bit n: values[n] was read
  std::uint64_t enabled_ns = 0,
                ran_ns = 0;  // of the hardware counters; ran < enabled: others used the processor's, too
  bool knows(std::size_t counter) const { return (known >> counter & 1) != 0; }
  /// Returns what was counted after `earlier`; nothing if a time went back, as in a damaged spool.
  PerfReading since(const PerfReading& earlier) const;
};

/// The counters of the thread that opens them. Call all functions on that thread.
class PerfCounters {
 public:
  PerfCounters() = default;
  ~PerfCounters() { close(); }
  PerfCounters(const PerfCounters&) = delete;
  PerfCounters& operator=(const PerfCounters&) = delete;

  /// Opens those of `wanted` that the machine allows, and returns a sentence for each loss.
  std::vector<std::string> open(std::span<const PerfCounter> wanted);
  void close();
  /// True even if the machine allows no counter.
  bool is_open() const { return is_open_; }
  PerfReading read() const;

 private:
  struct Open {
    PerfCounter counter{};
    int fd = -1;
    std::uint64_t id = 0;  // the kernel's
    bool is_ours() const;
  };
  /// Counters that run at the same times. The first leads.
  struct Group {
    std::array<Open, kPerfCounters> members;
    std::size_t size = 0;
  };
  static std::string names_of(std::span<const Open> members);
  static void read(const Group& group, PerfReading& reading);

  std::array<Group, 2> groups_;  // of the kernel, of the processor
  bool is_open_ = false;
};

}  // namespace profshim
