// Traces that `profshim merge` has made one, what is in them, and traces whose clocks were made to differ.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "run_under_shim.h"
#include "seen_trace.h"

namespace profshim::e2e {

/// `paths` merged into `out`, which must go well.
SeenTrace merged(const std::string& out, std::vector<std::string> paths, Outcome* said = nullptr);

struct Arrow {
  const SeenEvent *from = nullptr, *to = nullptr;
};
/// Those between ranks, by id.
std::map<std::int64_t, Arrow> arrows(const SeenTrace& trace);
/// The innermost slice of that thread at that time.
const SeenEvent* slice_at(const SeenTrace& trace, const SeenEvent& at);

/// What was done to a clock.
struct Shift {
  double offset_us = 0, drift_ppm = 0;
  double began_ns = 0;  // when the trace begins, by that clock
};
/// The same trace, of ours or of torch.profiler, by a clock that is `offset_us` behind at its begin and gains
/// `drift_ppm`, of another host.
Shift write_shifted(const std::string& from, const std::string& to, double offset_us, double drift_ppm);

/// Where a merged trace has put the rank whose clock was shifted.
struct Placed {
  std::string clock;
  double moments = 0, error_us = 0;
  double mistake_us = 0;  // how far it is off
};
Placed placed(const SeenTrace& merged, int rank, const Shift& shift);

}  // namespace profshim::e2e
