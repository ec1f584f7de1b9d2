// How large and how costly the longest window of a spec will be: rules of thumb, before the job runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planned_windows.h"
#include "profshim/spec.h"

namespace profshim::cli {

/// Calls per step where nobody says how many.
inline constexpr std::int64_t kEventsPerStep = 1000;

/// The numbers of the longest window.
struct Estimate {
  double events = 0, trace_bytes = 0, gzip_bytes = 0, memory_bytes = 0, microseconds_per_step = 0;
};
Estimate estimate(const std::vector<PlannedWindow>& windows, const Spec& spec, std::int64_t events_per_step);

/// A size as people read it.
std::string size_text(double bytes);

/// Steps after which a schedule that ends has ended; some windows of one that does not.
std::int64_t steps_until_over(const Schedule& schedule);

struct SizeWarning {
  std::string key, message, hint;  // the key that the size comes from or that will cut it
};
/// Limits that the window will meet.
std::vector<SizeWarning> size_warnings(const Spec& spec, const Estimate& estimate);

}  // namespace profshim::cli
