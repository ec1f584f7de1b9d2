#include "common_events.h"

#include "chrome_phases.h"
#include "trace/schema.h"

namespace profshim::trace_detail {

const ReadEvent* CommonEvents::take(const ReadEvent& event) {
  namespace phase = schema::phase;
  namespace chrome = chrome_phase;
  if (event.has_text_times) ++repairs_.text_times;
  switch (event.letter()) {
    case phase::kSlice:
    case phase::kMetadata:
    case phase::kInstant:
    case phase::kOldInstant:
    case phase::kCounter:
    case phase::kAsyncBegin:
    case phase::kAsyncInstant:
    case phase::kAsyncEnd:
    case phase::kFlowStart:
    case phase::kFlowStep:
    case phase::kFlowEnd:
      return &event;
    case chrome::kBegin:
      return pair(event, true);
    case chrome::kEnd:
      return pair(event, false);
    case chrome::kOldAsyncBegin:
      return as(phase::kAsyncBegin, event);
    case chrome::kOldAsyncStep:
    case chrome::kOldAsyncPast:
      return as(phase::kAsyncInstant, event);
    case chrome::kOldAsyncEnd:
      return as(phase::kAsyncEnd, event);
    case chrome::kMark:
      return as(phase::kOldInstant, event);
    case '\0':
      ++repairs_.no_phase;
      return &event;
    default:
      ++repairs_.other_phases[event.letter()];
      return &event;
  }
}

const ReadEvent* CommonEvents::pair(const ReadEvent& event, bool begins) {
  if (begins) {
    if (!event.has_ts || !pairs_.begin(event)) ++repairs_.lone_begins;
    return nullptr;
  }
  const ReadEvent* const slice = event.has_ts ? pairs_.end(event) : nullptr;
  ++(slice != nullptr ? repairs_.pairs : repairs_.lone_ends);
  return slice;
}

const ReadEvent* CommonEvents::as(const char& letter, const ReadEvent& event) {
  changed_ = event;
  changed_.phase = {&letter, 1};
  return &changed_;
}

}  // namespace profshim::trace_detail
