// Each launch has a run folder of its own. The file .profshim-run there tells which launch.
#pragma once

#include <cstdint>
#include <string>

#include "profshim/base/job_identity.h"
#include "profshim/run/run_folder.h"

namespace profshim::run {

enum class Joining : std::uint8_t { kNoRun, kMayJoin, kOtherRun };

/// Tells if this process records into the folder's run. `now_ns`: the file system's clock.
Joining joining(const std::string& folder, const JobIdentity& job, int rank, std::int64_t now_ns);

/// Ranks that were started apart (on several hosts, in two terminals) agree on one run name by a file beside the run
/// folders.
struct Rendezvous {
  std::string run_name;
  std::string file;  // "" = no file could be made
};
/// Returns the name that another rank of this launch has chosen, else `own_name`. `pattern`: absolute, with {run_name}.
Rendezvous meet(const std::string& pattern, NameValues names, const JobIdentity& job, const std::string& own_name);

}  // namespace profshim::run
