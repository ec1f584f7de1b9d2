// Makes texts valid UTF-8 for JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profshim::trace_detail {

/// Returns the number of bytes at the start of `text` that a JSON string holds as they are: printable ASCII except
/// quote and backslash.
std::size_t plain_prefix(const char* text, std::size_t size);

/// Length of the well-formed UTF-8 sequence at the start of `text` (not empty); 0 when there is none.
std::size_t utf8_sequence(std::string_view text);

/// `text` with every byte that belongs to no well-formed sequence replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

/// `text` as a JSON string with quotes; bytes that are not UTF-8 stay as they are.
std::string quoted_bytes(std::string_view text);

}  // namespace profshim::trace_detail
