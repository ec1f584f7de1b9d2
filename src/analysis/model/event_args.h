#pragma once

#include <cstdint>
#include <string_view>

#include "profshim/trace/reader.h"
#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {

const ReadEvent::ReadArg* find_arg(const ReadEvent& event, std::string_view key);
std::int64_t integer_arg(const ReadEvent& event, std::string_view key, std::int64_t otherwise);
/// A list or an object is returned as JSON.
std::string_view text_arg(const ReadEvent& event, std::string_view key);

/// Calls `function` with the name of each phase in a text of Slice::phases, outermost first.
template <class Function>
void for_each_phase(std::string_view phases, const Function& function) {
  while (!phases.empty()) {
    const std::size_t end = phases.find(schema::kPhaseSeparator);
    function(phases.substr(0, end));
    phases = end == std::string_view::npos ? "" : phases.substr(end + schema::kPhaseSeparator.size());
  }
}

}  // namespace profshim::analysis_detail
