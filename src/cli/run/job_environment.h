#pragma once

#include <string>

#include "profshim/spec.h"

namespace profshim::cli {

/// Sets LD_PRELOAD and PROFSHIM*. Moves short forms and options into PROFSHIM_SET. May set PROFSHIM_RUN_NAME.
void prepare_environment(const SpecSources& sources, const LoadedSpec& loaded, const std::string& library,
                         const std::string& program);

}  // namespace profshim::cli
