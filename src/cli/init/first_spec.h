#pragma once

#include <string>

#include "seen_job.h"

namespace profshim::cli {

/// Returns a commented spec of at most 25 lines that `profshim check` accepts. Its window has whole steps and stays
/// below limits.trace_size.
std::string first_spec(const SeenJob& job);

}  // namespace profshim::cli
