// The small language of PROFSHIM_SET: key=value separated by blanks; a value may be quoted, and lists may be bracketed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profshim::spec {

struct Assignment {
  std::string key, value;  // the value as written, quotes included
};
/// Returns false and sets a message if the text is not a list of assignments.
bool split_assignments(std::string_view text, std::vector<Assignment>& out, std::string& message);
/// Reads the assignment of a --set option: everything after the first '=' is the value.
bool split_assignment(std::string_view text, Assignment& out, std::string& message);

/// Splits "1,2,5-7" or "[1, 2]" into entries, without blanks around them and with their quotes. Returns false if
/// brackets or quotes are not closed.
bool split_list(std::string_view text, std::vector<std::string>& out);

/// Removes the quotes of a text: "..." has TOML's escapes, '...' has none. Returns false if they are not closed.
bool unquote(std::string_view text, std::string& out);

}  // namespace profshim::spec
