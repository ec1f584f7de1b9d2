#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profshim/write/recover.h"

namespace profshim::cli {

using write::RecoverNote;

/// Recovers spools of processes that began at `began_since_ns` or later. Notes recovered traces, failures and processes
/// that are still running.
void recover_quietly(const std::string& folder, std::int64_t began_since_ns, std::vector<RecoverNote>& notes);

}  // namespace profshim::cli
