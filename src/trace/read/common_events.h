// Gives visitors the events of Chrome's older notations as those that Kineto writes, and counts the others.
#pragma once

#include "profshim/trace/reader.h"
#include "slice_pairs.h"

namespace profshim::trace_detail {

class CommonEvents {
 public:
  explicit CommonEvents(EventRepairs& repairs) : repairs_(repairs) {}
  /// Returns the event for the visitor, valid as long as `event`; null if there is none (yet).
  const ReadEvent* take(const ReadEvent& event);
  /// Call after the last event.
  void finish() { repairs_.lone_begins += pairs_.open(); }

 private:
  const ReadEvent* pair(const ReadEvent& event, bool begins);
  const ReadEvent* as(const char& letter, const ReadEvent& event);

  EventRepairs& repairs_;
  SlicePairs pairs_;
  ReadEvent changed_;
};

}  // namespace profshim::trace_detail
