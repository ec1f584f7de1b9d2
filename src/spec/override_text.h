// Parses PROFSHIM_SET: key=value separated by blanks; values may be quoted, lists bracketed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profshim::spec {

struct Assignment {
  std::string key, value;
};
bool split_assignments(std::string_view text, std::vector<Assignment>& out, std::string& message);
bool split_assignment(std::string_view text, Assignment& out, std::string& message);

/// Splits "1,2,5-7" or "[1, 2]"; entries keep their quotes.
bool split_list(std::string_view text, std::vector<std::string>& out);

/// Removes quotes. Reads TOML's escapes within "...", but not within '...'.
bool unquote(std::string_view text, std::string& out);

}  // namespace profshim::spec
