// Counters of phases ([counters] perf): read where a range of a phase begins and ends, on the thread that runs it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "profshim/perf_counters.h"
#include "profshim/recorder.h"
#include "session/steps/steps.h"

namespace profshim::session {

/// Readings of a range become events kPhaseCounter behind the range's own event. A range that ends on another thread
/// than it began on has none.
class PhaseCounters {
 public:
  PhaseCounters(const Plan& plan, const Steps& steps) : plan_(plan), steps_(steps) {}

  /// Call on the thread of the range. `phases`: see phases_of().
  void begin(std::uint64_t phases, Ticks at);
  /// Call before a window closes. `at`: end of the range's event.
  void end(std::uint64_t phases, Ticks at);
  /// Ends all ranges of a thread that ends.
  void thread_ends(spool::Thread& thread, Ticks at);

 private:
  static constexpr std::size_t kThreads = 64;
  static constexpr std::size_t kNested = 8;

  struct Range {
    std::uint64_t phases = 0;
    Ticks begin = 0;
    bool of_steps = false;  // read from the counters of the steps
    PerfReading reading;
  };
  /// Only the thread uses its members.
  struct ThreadCounters {
    std::atomic<std::int32_t> tid{0};
    std::atomic<bool> is_busy{false};  // a signal handler may interrupt
    PerfCounters perf;
    std::array<Range, kNested> open;
    std::size_t depth = 0;
  };
  ThreadCounters* find(std::int32_t tid, bool claim);
  bool uses_those_of_steps(const ThreadCounters& of) const;
  static void close(ThreadCounters& of);
  void push(ThreadCounters& of, std::uint64_t phases, Ticks at);
  void pop(ThreadCounters& of, spool::Thread& thread, Ticks at);

  const Plan& plan_;
  const Steps& steps_;
  std::array<ThreadCounters, kThreads> threads_;
};

}  // namespace profshim::session
