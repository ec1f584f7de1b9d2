#pragma once

#include <cstdint>
#include <string_view>

namespace profshim::session {

/// Returns how often note_earlier_marker() saw the name: markers before the recording began.
std::uint32_t earlier_markers(std::string_view name);
/// In a child, which has made none yet.
void forget_earlier_markers();

}  // namespace profshim::session
