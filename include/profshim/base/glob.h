#pragma once

#include <string_view>

namespace profshim {

/// True if the pattern (* ? [abc] [a-z] [!x]) matches the whole text. Allocates nothing; ignores the locale.
bool glob_match(std::string_view pattern, std::string_view text);
std::string_view glob_literal_prefix(std::string_view pattern);

}  // namespace profshim
