// The loop in a recorded trace, for `profshim explain --steps` and `profshim init`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
  std::vector<std::size_t> times;  // calls of each symbol
  loop::Finding finding;
  /// The first finding that steps.source = "auto" would keep; it may be of a loop inside the one above.
  std::optional<loop::Finding> settled;
};

/// The keys of [steps] for a loop.
struct StepMarker {
  std::string source, pattern;
  bool at_end = false;
  std::uint32_t every = 1;
};
/// Returns the boundaries of the loop that a source can mark, best first.
std::vector<StepMarker> markers_of(const TraceLoop& found, const loop::Level& level);

/// Returns one element for each rank in the file. Throws std::runtime_error if the file is not a trace or has no
/// events.
std::vector<TraceLoop> loops_of_trace(const std::string& path);

}  // namespace profshim
