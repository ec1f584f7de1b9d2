#pragma once

#include <string>

namespace profshim::cli {

/// Returns PROFSHIM_LIBRARY, or the library beside the tool, in ../lib or ../lib/profshim. Returns "" and
/// sets `why_not` if there is no readable library or LD_PRELOAD cannot hold its path.
std::string find_library(std::string& why_not);

}  // namespace profshim::cli
