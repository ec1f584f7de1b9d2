#pragma once

#include <string>

namespace profshim::output {

/// Adds a window to summary-rank{rank}.json. Its text grows up to 16 MiB: then the oldest windows go, and are counted.
/// The entry replaces an earlier one of the same `file`, the name of the trace. `answers`: members of the entry, as
/// JSON. Returns 0 or an errno.
int add_to_summary(const std::string& folder, int folder_fd, int rank, const std::string& file,
                   const std::string& answers);

}  // namespace profshim::output
