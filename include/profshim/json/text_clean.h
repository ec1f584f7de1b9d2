// UTF-8 as JSON needs it: which bytes of a text may stay, and what stands in for the others.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profshim::trace_detail {

/// How many bytes at the start of `text` need no care inside a JSON string: printable ASCII but for quote and
/// backslash.
std::size_t plain_prefix(const char* text, std::size_t size);

/// Length of the well-formed UTF-8 sequence at the start of `text` (not empty); 0 when there is none.
std::size_t utf8_sequence(std::string_view text);

/// `text` with every byte that belongs to no well-formed sequence replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace profshim::trace_detail
