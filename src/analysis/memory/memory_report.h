#pragma once

#include <string>

#include "memory_reader.h"
#include "profshim/analysis/report.h"

namespace profshim::analysis_detail {

/// `reader` must have finished and have events. `path`: of the trace; the page shows its name without the folder.
Report memory_report(const MemoryReader& reader, const std::string& path);

}  // namespace profshim::analysis_detail
