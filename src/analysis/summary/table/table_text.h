// The text of torch.autograd.profiler_util._build_table, byte for byte: what follows is how it formats its numbers.
#pragma once

#include <string>

#include "profshim/analysis/summary.h"

namespace profshim::analysis_detail {

/// "33.33%"; "NaN" of a total of 0.
std::string format_share(double part, double total);
/// "1.50 KB", "-512 B".
std::string format_bytes(double bytes);

}  // namespace profshim::analysis_detail
