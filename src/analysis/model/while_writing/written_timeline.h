#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/model/load/timeline_builder.h"
#include "analysis/model/timeline.h"
#include "profshim/trace/writer.h"
#include "written_event.h"

namespace profshim::analysis_detail {

/// Makes the timeline of a trace that is being written, as load_timelines() of the file.
class WrittenTimeline : public TraceObserver {
 public:
  /// A trace with more events has no timeline.
  explicit WrittenTimeline(std::uint64_t most_events) : most_events_(most_events) {}

  void begin(const std::string& path, std::string_view head) noexcept override;
  void event(const TraceEvent& event, std::int64_t begin_ns, std::int64_t duration_ns) noexcept override;

  bool has_begun() const { return !head_.empty(); }
  /// Call after the last event. Null = there is none; why_not() tells the reason.
  const Timeline* timeline() noexcept;
  const std::string& why_not() const { return why_not_; }

 private:
  void give_up(std::string_view why) noexcept;
  Timeline finish();

  const std::uint64_t most_events_;
  std::string head_, why_not_;
  std::optional<TimelineBuilder> builder_;
  std::optional<Timeline> timeline_;
  WrittenEvent written_;
  std::uint64_t events_ = 0;
};

}  // namespace profshim::analysis_detail
