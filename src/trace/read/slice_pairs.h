// Joins B and E events of Chrome's format to slices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "profshim/trace/reader.h"

namespace profshim::trace_detail {

/// Pairs as Perfetto does (SliceTracker::MaybeCloseStack and MatchingIncompleteSliceIndex in its trace processor):
/// - An E event ends the innermost open B event of its thread that has its name and category, if it has them.
/// - A slice ends with the slice around it at the latest. Later E events do not find it.
/// A slice that still is open at the end of the trace has no duration in Perfetto, which draws it up to the end of the
/// trace. Here it lasts until then and has the argument "finished": false, as in traces of profshim.
/// Expects the events of a thread in the order of time: of X events, that of their begins or ends.
class SlicePairs {
 public:
  /// Takes an X event.
  void whole(const ReadEvent& event);
  /// Returns false if too many begins are open.
  bool begin(const ReadEvent& event);
  /// Returns the slice, valid until the next call; null if no begin fits.
  const ReadEvent* end(const ReadEvent& event);
  /// Ends the open slices. Returns the number of those that last to the end of the trace.
  std::uint64_t finish(std::int64_t last_ns);
  /// Returns the next slice that ended without its E event, valid until the next call; null if there is none.
  const ReadEvent* next_cut() { return cut_slices_.empty() ? nullptr : take_next_cut(); }
  /// Number of slices that ended with the slice around them.
  std::uint64_t cut() const { return cut_; }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  /// A copy of a B event. Never moves: its views point into it.
  struct Kept {
    ReadEvent event;
    std::string texts;
    std::vector<ReadEvent::ReadArg> args;
    std::int64_t limit_ns = kNever;  // end of the slice around it
  };
  struct Span {
    std::int64_t begin_ns, end_ns;
  };
  struct Thread {
    std::vector<std::unique_ptr<Kept>> open;  // innermost last
    std::vector<Span> whole;                  // X events that can be around the next begin, innermost last
  };
  struct Recent {
    std::uint64_t key = 0;
    Thread* thread = nullptr;
  };

  const ReadEvent* take_next_cut();
  Thread& thread_of(const ReadEvent& event);
  void cut_before(Thread& thread, std::int64_t ts_ns);
  void take_cut(std::unique_ptr<Kept> kept, std::int64_t end_ns);

  std::unordered_map<std::uint64_t, Thread> threads_;
  std::array<Recent, 64> recent_{};  // saves most look-ups of X events
  std::unique_ptr<Kept> ended_;
  std::vector<std::unique_ptr<Kept>> cut_slices_;  // for next_cut()
  std::size_t next_cut_ = 0;
  std::uint64_t open_ = 0, cut_ = 0;
};

}  // namespace profshim::trace_detail
