// What `profshim recover` does, for `profshim run` too.
#pragma once

#include <string>
#include <vector>

namespace profshim::cli {

/// Makes traces of the spools that dead processes left in `folder`. Adds one line per file or problem to `lines`; with
/// `quiet`, only for what was recovered or failed. Returns an exit status of the tool; a folder without spools is fine.
int recover_folder(const std::string& folder, bool quiet, std::vector<std::string>& lines);

}  // namespace profshim::cli
