#include "written_timeline.h"

#include <new>
#include <stdexcept>

#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {
namespace {

constexpr std::string_view kNoMemory = "memory ran out";
static_assert(kNoMemory.size() <= 15);  // a std::string of it allocates nothing

bool makes_timeline(const TraceEvent& event) {
  return event.phase == schema::phase::kSlice || event.phase == schema::phase::kInstant ||
         event.phase == schema::phase::kAsyncBegin || event.phase == schema::phase::kAsyncEnd;
}

}  // namespace

void WrittenTimeline::give_up(std::string_view why) noexcept {
  builder_.reset();
  try {
    why_not_ = why;
  } catch (const std::bad_alloc&) {
    why_not_ = kNoMemory;
  }
}

void WrittenTimeline::begin(const std::string& path, std::string_view head) noexcept {
  timeline_.reset();
  why_not_.clear();
  events_ = 0;
  try {
    head_ = head;
    builder_.emplace(path, TimelineOptions{});
  } catch (const std::bad_alloc&) {
    give_up(kNoMemory);
  }
}

void WrittenTimeline::event(const TraceEvent& event, std::int64_t begin_ns, std::int64_t duration_ns) noexcept {
  if (!builder_) return;
  if (++events_ > most_events_) {
    return give_up("its events need more memory than limits.host_memory leaves for it");
  }
  if (!makes_timeline(event)) return;
  try {
    builder_->add(written_.read(event, begin_ns, duration_ns));
  } catch (const std::bad_alloc&) {
    give_up(kNoMemory);
  }
}

Timeline WrittenTimeline::finish() {
  TraceMetadata metadata;
  TraceVisitor visitor;
  visitor.metadata = [&](std::string_view key, std::string_view json, bool) { metadata.read(key, json); };
  read_trace_bytes(head_ + "]}", visitor);
  ReadResult result;
  result.ok = true;
  result.events = events_;
  return builder_->finish(result, std::move(metadata));
}

const Timeline* WrittenTimeline::timeline() noexcept {
  if (builder_) {
    try {
      timeline_ = finish();
      builder_.reset();
    } catch (const std::bad_alloc&) {
      give_up(kNoMemory);
    } catch (const std::runtime_error& error) {
      give_up(error.what());
    }
  }
  return timeline_ ? &*timeline_ : nullptr;
}

}  // namespace profshim::analysis_detail
