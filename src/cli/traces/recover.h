// What `profshim recover` does, for `profshim run` too.
#pragma once

#include <string>
#include <vector>

#include "profshim/output/recover.h"

namespace profshim::cli {

using output::RecoverNote;

/// Makes traces of the spools that dead processes left in `folder`. Adds a note per file or problem; with `quiet`, only
/// of what was recovered or failed. Returns an exit status of the tool; a folder without spools is fine.
int recover_folder(const std::string& folder, bool quiet, std::vector<RecoverNote>& notes);

}  // namespace profshim::cli
