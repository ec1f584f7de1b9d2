#pragma once

#include <string>
#include <vector>

#include "profshim/output/recover.h"

namespace profshim::cli {

using output::RecoverNote;

/// With `quiet`, notes only recovered traces and failures. Returns an exit status.
int recover_folder(const std::string& folder, bool quiet, std::vector<RecoverNote>& notes);

}  // namespace profshim::cli
