// Recovery of all spools of a run folder, for `profshim recover` and `profshim run`.
#pragma once

#include <string>
#include <vector>

#include "profshim/output/recover.h"

namespace profshim::cli {

using output::RecoverNote;

/// Writes the traces of the spools that dead processes left in `folder`. Adds a note per file or problem; with `quiet`,
/// only for recovered traces and failures. Returns an exit status: kSuccess also for a folder without spools.
int recover_folder(const std::string& folder, bool quiet, std::vector<RecoverNote>& notes);

}  // namespace profshim::cli
