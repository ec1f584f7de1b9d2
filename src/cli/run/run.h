#pragma once

#include <cstdint>
#include <string>

#include "profshim/spec.h"

namespace profshim::cli {

/// Forwards signals to the child. Returns the status of waitpid. Throws std::runtime_error.
int run_child(char** argv);

/// Returns the child's exit status, or dies of the signal that killed the child.
int exit_like(int wait_status);

/// Runs finish.command for the ranks of a run folder that have ended since `began_ns` (of the epoch) without it, such
/// as those that were killed. `profshim run` itself may be a rank: then only for that rank.
void run_missing_finish(const Spec& spec, const std::string& folder, std::int64_t began_ns);

/// Sets LD_PRELOAD and PROFSHIM*. Moves short forms and options into PROFSHIM_SET. May set PROFSHIM_RUN_NAME.
void prepare_environment(const SpecSources& sources, const LoadedSpec& loaded, const std::string& library,
                         const std::string& program);

}  // namespace profshim::cli
