// Merges traces with `profshim merge`, reads merged traces, and writes traces with shifted clocks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "run_under_shim.h"
#include "seen_trace.h"

namespace profshim::e2e {

/// Merges `paths` into `out` and reads the result. Fails the test if the merge fails.
SeenTrace merged(const std::string& out, std::vector<std::string> paths, Outcome* said = nullptr);

struct Arrow {
  const SeenEvent *from = nullptr, *to = nullptr;
};
/// Returns the arrows between ranks, by id.
std::map<std::int64_t, Arrow> arrows(const SeenTrace& trace);
/// Returns the innermost slice that contains the time of `at` on its thread.
const SeenEvent* slice_at(const SeenTrace& trace, const SeenEvent& at);

/// The shift that was applied to a clock.
struct Shift {
  double offset_us = 0, drift_ppm = 0;
  double began_ns = 0;  // begin of the trace by that clock
};
/// Writes a trace (ours or torch.profiler's) as if recorded on another host, whose clock is `offset_us` behind at the
/// begin of the trace and gains `drift_ppm`.
Shift write_shifted(const std::string& from, const std::string& to, double offset_us, double drift_ppm);

/// The alignment of the shifted rank in a merged trace.
struct Placed {
  std::string clock;
  double moments = 0, error_us = 0;
  double mistake_us = 0;  // distance from the true time
};
Placed placed(const SeenTrace& merged, int rank, const Shift& shift);

}  // namespace profshim::e2e
