// Meaning of an event of a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/model/timeline.h"
#include "profshim/trace/reader.h"

namespace profshim::analysis_detail {

bool has_possible_time(const ReadEvent& event);

/// Returns the N of "ProfilerStep#N".
std::optional<std::int64_t> step_number(std::string_view name);

bool is_memory_event(const ReadEvent& event);
/// Leaves out the track.
MemoryRecord memory_record(const ReadEvent& event);

}  // namespace profshim::analysis_detail
