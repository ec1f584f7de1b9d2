// The environment of a job that `profshim run` starts.
#pragma once

#include <string>

#include "profshim/spec.h"

namespace profshim::cli {

/// Returns PROFSHIM_LIBRARY, or the library beside the tool or in ../lib; "" if there is none or LD_PRELOAD cannot hold
/// its path.
std::string find_library(std::string& why_not);

/// Sets LD_PRELOAD, PROFSHIM, PROFSHIM_SPEC, PROFSHIM_SET and maybe PROFSHIM_RUN_NAME. Unsets the variables that
/// PROFSHIM_SET replaces.
void prepare_environment(const SpecSources& sources, const LoadedSpec& loaded, const std::string& library,
                         const std::string& program);

}  // namespace profshim::cli
