// Makes text from files safe to print on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace profshim {

/// Returns the text on one line, without effects on a terminal. Replaces control characters (C0, DEL, C1), line and
/// paragraph separators, characters that change the writing direction, and invalid UTF-8 by escapes: \n, \t, \x1b,
/// \u202e.
std::string printable(std::string_view text);

/// Does the same, but keeps newlines. For our own text of several lines that contains names from files.
std::string printable_lines(std::string_view text);

}  // namespace profshim
