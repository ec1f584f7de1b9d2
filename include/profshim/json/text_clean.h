#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profshim::trace_detail {

/// Length of the prefix that needs no JSON escape: printable ASCII except quote and backslash.
std::size_t plain_prefix(const char* text, std::size_t size);

/// Length of the well-formed UTF-8 sequence at the start; 0 = none. `text` must not be empty.
std::size_t utf8_sequence(std::string_view text);

/// Replaces each byte outside a well-formed UTF-8 sequence with U+FFFD.
std::string valid_utf8(std::string_view text);

/// Returns a quoted JSON string. Keeps bytes that are not UTF-8.
std::string quoted_bytes(std::string_view text);

}  // namespace profshim::trace_detail
