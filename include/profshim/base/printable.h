#pragma once

#include <string>
#include <string_view>

namespace profshim {

/// Returns one line. Escapes (\n, \t, \x1b, \u202e) control characters, line and paragraph separators, characters that
/// change the writing direction, and invalid UTF-8.
std::string printable(std::string_view text);

/// Keeps newlines: for our own text with names from files.
std::string printable_lines(std::string_view text);

}  // namespace profshim
