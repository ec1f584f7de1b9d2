#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/trace/events.h"
#include "profshim/trace/reader.h"

namespace profshim::analysis_detail {

/// Gives TimelineBuilder an event as a reader of the file gets it. Flows and metadata events are not supported.
class WrittenEvent {
 public:
  /// Views into `event` and this object, until the next call.
  const ReadEvent& read(const TraceEvent& event, std::int64_t begin_ns, std::int64_t duration_ns);

 private:
  std::string_view shown(std::string_view text);
  JsonValue shown(const Arg& arg);

  ReadEvent event_;
  std::vector<JsonValue> args_;
  std::deque<std::string> cleaned_;  // texts that were not UTF-8
};

}  // namespace profshim::analysis_detail
