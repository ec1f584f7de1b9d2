#pragma once

#include <string>

namespace profshim::e2e {

/// Expects that summary-rank{rank}.json tells the same of each trace in the folder as `profshim summary --json` of the
/// trace. Returns the number of compared traces.
int expect_written_summaries(const std::string& folder);

}  // namespace profshim::e2e
