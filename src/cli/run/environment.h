// The environment of a job that `profshim run` starts.
#pragma once

#include <string>

#include "profshim/spec.h"

namespace profshim::cli {

/// Returns PROFSHIM_LIBRARY, or the library beside the tool or in the prefix's lib; "" if LD_PRELOAD cannot hold the
/// path.
std::string find_library(std::string& why_not);

/// Unsets the variables that it merges into PROFSHIM_SPEC and PROFSHIM_SET.
void prepare_environment(const SpecSources& sources, const LoadedSpec& loaded, const std::string& library,
                         const std::string& program);

}  // namespace profshim::cli
