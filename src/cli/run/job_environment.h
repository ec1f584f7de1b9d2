#pragma once

#include <string>

#include "profshim/spec.h"

namespace profshim::cli {

/// Returns PROFSHIM_LIBRARY, or the library beside the tool or in ../lib. Returns "" if there is no library or
/// LD_PRELOAD cannot hold its path.
std::string find_library(std::string& why_not);

/// May set PROFSHIM_RUN_NAME. Unsets the variables that PROFSHIM_SET replaces.
void prepare_environment(const SpecSources& sources, const LoadedSpec& loaded, const std::string& library,
                         const std::string& program);

}  // namespace profshim::cli
