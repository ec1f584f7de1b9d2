// Shell-style patterns.
#pragma once

#include <string_view>

namespace profshim {

/// Matches the whole text: * ? [abc] [a-z] [!x]. Allocates nothing; ignores the locale.
bool glob_match(std::string_view pattern, std::string_view text);
/// Returns the characters before the first special one, for a cheap first test.
std::string_view glob_literal_prefix(std::string_view pattern);

}  // namespace profshim
