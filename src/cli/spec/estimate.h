#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planned.h"
#include "profshim/spec.h"

namespace profshim::cli {

inline constexpr std::int64_t kEventsPerStep = 1000;

/// Estimates for the longest window of a spec.
struct Estimate {
  double events = 0, trace_bytes = 0, gzip_bytes = 0, memory_bytes = 0, microseconds_per_step = 0;
};
Estimate estimate(const std::vector<PlannedWindow>& windows, const Spec& spec, std::int64_t events_per_step);

std::string size_text(double bytes);

/// Returns a power of two: the schedule is over at this step. 2^60 = never.
std::int64_t steps_until_over(const Schedule& schedule);

struct SizeWarning {
  std::string key;
  std::string message, hint;
};
std::vector<SizeWarning> size_warnings(const Spec& spec, const Estimate& estimate);

}  // namespace profshim::cli
