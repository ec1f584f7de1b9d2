// Each launch has a run folder of its own. The file .profshim-run there tells which launch.
#pragma once

#include <cstdint>
#include <string>

#include "profshim/base/job_identity.h"

namespace profshim::run {

enum class Joining : std::uint8_t { kNoRun, kMayJoin, kOtherRun };

/// Tells if this process records into the folder's run. `now_ns`: the file system's clock.
Joining joining(const std::string& folder, const JobIdentity& job, int rank, std::int64_t now_ns);

}  // namespace profshim::run
