// Rough estimates of the size and the cost of the longest window of a spec, before the job runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planned_windows.h"
#include "profshim/spec.h"

namespace profshim::cli {

/// Default number of recorded calls per step.
inline constexpr std::int64_t kEventsPerStep = 1000;

/// The numbers of the longest window.
struct Estimate {
  double events = 0, trace_bytes = 0, gzip_bytes = 0, memory_bytes = 0, microseconds_per_step = 0;
};
Estimate estimate(const std::vector<PlannedWindow>& windows, const Spec& spec, std::int64_t events_per_step);

/// Returns a readable size such as "1.5 GiB".
std::string size_text(double bytes);

/// Returns a number of steps after which the schedule is over. For a schedule without an end, returns 2^60.
std::int64_t steps_until_over(const Schedule& schedule);

struct SizeWarning {
  std::string key;  // the key that sets the size, or the limit that will be reached
  std::string message, hint;
};
/// Returns a warning for each limit that the window will reach.
std::vector<SizeWarning> size_warnings(const Spec& spec, const Estimate& estimate);

}  // namespace profshim::cli
