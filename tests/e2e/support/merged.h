#pragma once

#include <map>
#include <string>
#include <vector>

#include "run_under_shim.h"
#include "seen_trace.h"

namespace profshim::e2e {

SeenTrace merged(const std::string& out, std::vector<std::string> paths, Outcome* said = nullptr);

struct Arrow {
  const SeenEvent *from = nullptr, *to = nullptr;
};
/// Returns the flow arrows between ranks, by flow id.
std::map<std::int64_t, Arrow> arrows(const SeenTrace& trace);
/// Returns the innermost slice that covers the time of `at` on `at`'s thread.
const SeenEvent* slice_at(const SeenTrace& trace, const SeenEvent& at);

struct Shift {
  double offset_us = 0, drift_ppm = 0;
  double began_ns = 0;  // first event's time by the shifted clock
};
/// Copies a trace as if its clock were `offset_us` behind at first and gained `drift_ppm`.
Shift write_shifted(const std::string& from, const std::string& to, double offset_us, double drift_ppm);

struct Placed {
  std::string clock;
  double moments = 0, error_us = 0;  // as `merge` reports
  double mistake_us = 0;             // reported minus true offset
};
Placed placed(const SeenTrace& merged, int rank, const Shift& shift);

}  // namespace profshim::e2e
