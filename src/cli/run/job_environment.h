#pragma once

#include <string>

#include "profshim/spec.h"

namespace profshim::cli {

/// Returns PROFSHIM_LIBRARY, or the library beside the tool, in ../lib or in ../lib/profshim. Returns "" if there is no
/// readable library or LD_PRELOAD cannot hold its path.
std::string find_library(std::string& why_not);

/// Sets LD_PRELOAD and PROFSHIM*. Moves short forms and options into PROFSHIM_SET. May set PROFSHIM_RUN_NAME.
void prepare_environment(const SpecSources& sources, const LoadedSpec& loaded, const std::string& library,
                         const std::string& program);

}  // namespace profshim::cli
