// tests/golden/traces/SOURCE.md describes these traces.
#pragma once

#include <algorithm>
#include <map>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>

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

inline const Original& original_called(std::string_view test_name) {
  const auto found = std::find_if(std::begin(kOriginals), std::end(kOriginals),
                                  [test_name](const Original& one) { return one.test_name == test_name; });
  if (found == std::end(kOriginals)) throw std::runtime_error("no such original: " + std::string(test_name));
  return *found;
}

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
