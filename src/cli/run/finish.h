#pragma once

#include <cstdint>
#include <string>

#include "profshim/spec.h"

namespace profshim::cli {

/// Runs finish.command for the ranks of a run folder that have ended since `began_ns` (of the epoch) without it, such
/// as those that were killed. `profshim run` itself may be a rank: then only for that rank.
void run_missing_finish(const Spec& spec, const std::string& folder, std::int64_t began_ns);

}  // namespace profshim::cli
