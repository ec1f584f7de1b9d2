// The environment of a job that `profshim run` starts.
#pragma once

#include <string>

#include "profshim/spec.h"

namespace profshim::cli {

/// Returns the absolute path of libprofshim.so: PROFSHIM_LIBRARY, or else beside this program or in the lib folder of
/// its prefix. Returns "" and a sentence in `why_not` if there is none or LD_PRELOAD cannot hold its path.
std::string find_library(std::string& why_not);

/// Prepends `library` to LD_PRELOAD and writes the settings in force to PROFSHIM_SPEC and PROFSHIM_SET. Unsets the
/// variables that it merges, so that the precedence of environment and command line is resolved here. `program` names
/// the run if the spec does not.
void prepare_environment(const SpecSources& sources, const LoadedSpec& loaded, const std::string& library,
                         const std::string& program);

}  // namespace profshim::cli
