// What `profshim run` puts into the environment of the job.
#pragma once

#include <string>

#include "profshim/spec.h"

namespace profshim::cli {

/// The absolute path of libprofshim.so: PROFSHIM_LIBRARY, else beside this program or in the lib folder of its prefix.
/// "" and a sentence when there is none, or when LD_PRELOAD could not hold it.
std::string find_library(std::string& why_not);

/// Puts `library` in front of LD_PRELOAD, and what is in force into PROFSHIM_SPEC and PROFSHIM_SET: the environment's
/// and the command line's settings become one, so that their order of precedence is settled here.
void prepare_environment(const SpecSources& sources, const LoadedSpec& loaded, const std::string& library,
                         const std::string& program);

}  // namespace profshim::cli
