// The small language of PROFSHIM_SET: key=value separated by blanks; a value may be quoted, and lists may be bracketed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profshim::spec {

struct Assignment {
  std::string key, value;  // the value as written, quotes included
};
/// False and a message when the text is no list of assignments.
bool split_assignments(std::string_view text, std::vector<Assignment>& out, std::string& message);
/// The one assignment of a --set option: everything after the first '=' is the value.
bool split_assignment(std::string_view text, Assignment& out, std::string& message);

/// Entries of "1,2,5-7" or "[1, 2]"; blanks around entries go, quotes stay. False when brackets or quotes are not
/// closed.
bool split_list(std::string_view text, std::vector<std::string>& out);

/// Without its quotes, if it has some: "..." with TOML's escapes, '...' as it stands. False when they are not closed.
bool unquote(std::string_view text, std::string& out);

}  // namespace profshim::spec
