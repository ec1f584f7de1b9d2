// The traces that are replayed, see tests/golden/traces/SOURCE.md.
#pragma once

#include <map>
#include <ostream>
#include <string>

#include "expected.h"
#include "trace_rows.h"

namespace profshim::replay {

struct Original {
  const char* test_name;
  const char* file;
  Dialect dialect;
};
inline void PrintTo(const Original& original, std::ostream* out) { *out << original.file; }

inline constexpr Original kOriginals[] = {
    {"A100Ddp", "hta-ddp-nccl-3steps", {}},
    {"B200Vllm", "tracelens-b200-8gpu-rank0", {}},
    {"EventSync", "hta-cuda-event-sync-multistream", {.whole_microseconds = true, .other_property_order = true}},
    {"Graphs", "hta-cuda-graphs-excerpt", {.whole_microseconds = true, .other_property_order = true}},
};

/// Read once.
inline const Trace& trace_of(const Original& original) {
  static auto& traces = *new std::map<std::string, Trace>;
  const auto [found, is_new] = traces.try_emplace(original.file);
  if (is_new) {
    const std::string path = std::string(PROFSHIM_SOURCE_DIR "/tests/golden/traces/") + original.file + ".json.gz";
    found->second = trace_rows(unpacked_file(path));
  }
  return found->second;
}

}  // namespace profshim::replay
