#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "definitions.h"
#include "profshim/event.h"
#include "profshim/perf_counters.h"
#include "profshim/spec.h"
#include "profshim/spool/view.h"
#include "profshim/trace/events.h"

namespace profshim::kineto {

/// True for a thread on which PyTorch runs the backward passes of a device: another thread has begun them, and waits
/// for them. All of PyTorch's events there lie in backward functions.
bool runs_only_backward(const std::vector<const Event*>& events);

// Finds which phases were in progress where and when: events get the phases of their thread at their begin, device
// activity those of the call that launched it.

/// A range that makes a phase, cut to the window.
struct PhaseOccurrence {
  std::size_t phase = 0;  // in Definitions::phases()
  std::int64_t tid = 0;   // of the thread that began it
  Ticks begin = 0, end = 0;
  StringId range = 0;
  bool unclosed = false;  // its end was not seen
  bool resumed = false;   // see PhaseArgs
  bool began_before = false, ends_later = false;
  const PerfReading* counted = nullptr;  // from its begin to its end; null = unknown
};

class PhaseMarks {
 public:
  PhaseMarks(const spool::View& view, const Definitions& definitions) : view_(view), definitions_(definitions) {}

  bool any_defined() const { return !definitions_.phases().empty(); }
  /// `range` has the flag kPhase, and was recorded by the thread `tid`.
  void add(std::int64_t tid, const Event& range);
  /// `counter`: an event kPhaseCounter of the thread `tid`.
  void add_counter(std::int64_t tid, const Event& counter);
  /// Adds a range that is still open. add() may add it, too, if it ended in between.
  void add_open(std::int64_t tid, const Event& range);
  /// See runs_only_backward(): the thread has the phases of the one thread that is in a phase at that time.
  void note_backward(std::int64_t tid) { backward_threads_.insert(tid); }
  /// Call after the last add(). `at_exit`: ranges that are still open never ended.
  void finish(Ticks begin, Ticks end, bool at_exit, double ticks_per_ns);

  /// Sorted by begin, longest first.
  const std::vector<PhaseOccurrence>& occurrences() const { return occurrences_; }
  std::span<const Arg> args_at(std::int64_t tid, Ticks at) const;

 private:
  struct Range {
    std::int64_t tid;
    Ticks begin, end;  // end 0 = open
    StringId name;
    PhaseSource source;    // kNvtx or kTorch, if `phases` is 0
    std::uint32_t phases;  // see PhaseArgs
    bool unfinished, resumed, is_life;
  };
  static Range range_of(std::int64_t tid, const Event& range);
  struct Segment {
    Ticks from;
    std::span<const Arg> args;  // until the next segment
  };
  const PerfReading* counted_in(const PhaseOccurrence& one) const;
  static PhaseOccurrence whole(const Range& range, Ticks window_end, bool at_exit, Ticks longest);
  static PhaseOccurrence cut_to(PhaseOccurrence found, Ticks begin, Ticks end);
  void drop_ended_copies();
  void drop_nested();
  std::vector<std::size_t> phases_of(const Range& range);
  const std::vector<std::size_t>& phases_named(StringId name, PhaseSource source);
  std::vector<Segment> segments_of(const std::vector<const PhaseOccurrence*>& occurrences);
  std::span<const Arg> args_of(const std::vector<std::size_t>& phases);

  const spool::View& view_;
  const Definitions& definitions_;
  std::vector<Range> ranges_;
  std::map<std::tuple<std::int64_t, Ticks, std::uint32_t>, PerfReading> counted_;  // by thread, end and phases
  std::set<std::int64_t> backward_threads_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> phases_of_name_;
  std::vector<PhaseOccurrence> occurrences_;
  std::unordered_map<std::int64_t, std::vector<Segment>> segments_;  // by thread
  std::map<std::vector<std::size_t>, std::vector<Arg>> args_;        // by phases, outermost first
  std::deque<std::string> texts_;
};

}  // namespace profshim::kineto
