#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace profshim {

/// As strerror(), but in English: the process may have a locale of another language, in an encoding that is not UTF-8.
/// Valid until the next call of this thread.
const char* error_text(int error);

/// As dlerror(), but in English; "" if nothing failed since the last call.
std::string loader_error_text();

/// Returns one line. Escapes (\n, \t, \x1b, \u202e) control characters, line and paragraph separators, characters that
/// change the writing direction, and invalid UTF-8.
std::string printable(std::string_view text);

/// Keeps newlines: for our own text with names from files.
std::string printable_lines(std::string_view text);

/// Parses "2GiB", "512 MB" or "1024".
bool parse_size(std::string_view text, std::uint64_t& bytes);
/// Returns "1.5 GiB".
std::string format_size(std::uint64_t bytes);

/// Returns the candidate with the smallest edit distance to `word`, or "" if none is close.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace profshim
