#pragma once

#include <cstdint>

#include "profshim/trace/reader.h"
#include "slice_pairs.h"

namespace profshim::trace_detail::chrome_phase {

// Values of "ph" that Kineto does not write. Chrome's format has them.

inline constexpr char kBegin = 'B';
inline constexpr char kEnd = 'E';
// The older letters of asynchronous events and of instants.
inline constexpr char kOldAsyncBegin = 'S';
inline constexpr char kOldAsyncStep = 'T';
inline constexpr char kOldAsyncPast = 'p';
inline constexpr char kOldAsyncEnd = 'F';
inline constexpr char kMark = 'R';

}  // namespace profshim::trace_detail::chrome_phase

namespace profshim::trace_detail {

/// Gives visitors the events of Chrome's older notations as those that Kineto writes, and counts the others.
class CommonEvents {
 public:
  explicit CommonEvents(EventRepairs& repairs) : repairs_(repairs) {}
  /// Returns the event for the visitor, valid as long as `event`; null if there is none (yet).
  const ReadEvent* take(const ReadEvent& event);
  /// Call after the last event.
  void finish();
  /// Returns a further event that take() or finish() has made, valid until the next call; null if there is none.
  const ReadEvent* next() { return pairs_.next_cut(); }

 private:
  void note_end(const ReadEvent& event);
  const ReadEvent* pair(const ReadEvent& event, bool begins);
  const ReadEvent* as(const char& letter, const ReadEvent& event);

  EventRepairs& repairs_;
  SlicePairs pairs_;
  ReadEvent changed_;
  std::int64_t last_ns_ = 0;  // end of the last event
  bool has_last_ = false;
};

}  // namespace profshim::trace_detail
