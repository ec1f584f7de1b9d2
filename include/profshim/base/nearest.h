#pragma once

#include <string_view>
#include <vector>

namespace profshim {

/// Returns the candidate with the smallest edit distance to `word`, or "" if none is close.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace profshim
