#pragma once

#include <cstdint>
#include <string_view>

#include "profshim/trace/reader.h"

namespace profshim::analysis_detail {

const ReadEvent::ReadArg* find_arg(const ReadEvent& event, std::string_view key);
std::int64_t integer_arg(const ReadEvent& event, std::string_view key, std::int64_t otherwise);
/// A list or an object is returned as JSON.
std::string_view text_arg(const ReadEvent& event, std::string_view key);

}  // namespace profshim::analysis_detail
