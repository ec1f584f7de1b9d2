#pragma once

#include <string>
#include <string_view>

namespace profshim::output {

/// Returns the name of a file besides the trace: "rank0.11.pt.trace.json.gz" and ".stacks.txt" give
/// "rank0.11.stacks.txt".
inline std::string export_name(std::string trace, std::string_view ending) {
  for (const std::string_view of_trace : {".gz", ".json", ".trace", ".pt"}) {
    if (trace.ends_with(of_trace)) trace.erase(trace.size() - of_trace.size());
  }
  return trace.append(ending);
}

}  // namespace profshim::output
