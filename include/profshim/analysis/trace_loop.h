// The loop in a recorded trace, for `profshim explain --steps`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "profshim/loop.h"

namespace profshim {

/// The loop of the thread with the most calls.
struct TraceLoop {
  std::string path;
  int rank = -1;
  std::int64_t tid = 0;
  std::size_t calls = 0;
  std::vector<loop::Symbol> symbols;
  loop::Finding finding;
};

/// Returns one element for each rank in the file. Throws std::runtime_error if the file is not a trace or has no
/// events.
std::vector<TraceLoop> loops_of_trace(const std::string& path);

}  // namespace profshim
