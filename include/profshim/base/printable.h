// Text that comes from files, on its way to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace profshim {

/// The text on one line and without effect on a terminal: control characters (C0, DEL, C1), line and paragraph
/// separators, characters that turn the direction of writing, and bytes that are no UTF-8 become \n, \t, \x1b, \u202e.
/// All else stays as it is.
std::string printable(std::string_view text);

/// The same for text of several lines of our own making, which holds names from files: its newlines stay.
std::string printable_lines(std::string_view text);

}  // namespace profshim
