#include "common_events.h"

#include <algorithm>

#include "profshim/trace/metadata.h"
#include "profshim/trace/schema.h"

namespace profshim::trace_detail {
namespace {

bool has_possible_time(const ReadEvent& event) { return event.has_ts && TraceMetadata::is_possible(event.ts_ns); }

}  // namespace

const ReadEvent* CommonEvents::take(const ReadEvent& event) {
  namespace phase = schema::phase;
  namespace chrome = chrome_phase;
  if (event.has_text_times) ++repairs_.text_times;
  if (!event.is(phase::kMetadata) && has_possible_time(event)) note_end(event);
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

void CommonEvents::note_end(const ReadEvent& event) {
  std::int64_t end_ns = event.ts_ns;
  if (event.is(schema::phase::kSlice) && TraceMetadata::is_possible(event.duration_ns)) {
    pairs_.whole(event);
    end_ns += std::max<std::int64_t>(event.duration_ns, 0);
  }
  last_ns_ = has_last_ ? std::max(last_ns_, end_ns) : end_ns;
  has_last_ = true;
}

const ReadEvent* CommonEvents::pair(const ReadEvent& event, bool begins) {
  if (begins) {
    if (!has_possible_time(event) || !pairs_.begin(event)) ++repairs_.lost_begins;
    return nullptr;
  }
  const ReadEvent* const slice = has_possible_time(event) ? pairs_.end(event) : nullptr;
  ++(slice != nullptr ? repairs_.pairs : repairs_.lone_ends);
  return slice;
}

void CommonEvents::finish() {
  repairs_.lone_begins += pairs_.finish(last_ns_);
  repairs_.cut = pairs_.cut();
}

const ReadEvent* CommonEvents::as(const char& letter, const ReadEvent& event) {
  changed_ = event;
  changed_.phase = {&letter, 1};
  return &changed_;
}

}  // namespace profshim::trace_detail
