#include "estimate.h"

#include <algorithm>

#include "profshim/base/text/message_text.h"

namespace profshim::cli {
namespace {

// Rough values, measured on traces of MPI programs.
constexpr double kTraceBytesPerEvent = 250;
constexpr double kGzipRatio = 12;
constexpr double kSpoolBytesPerEvent = 64;
constexpr double kNanosecondsPerEvent = 100;
constexpr double kTraceBytesPerFrame = 60;
constexpr double kNanosecondsPerFrame = 10;
constexpr double kTraceBytesOfInputs = 150;
constexpr double kNanosecondsOfInputs = 150;
constexpr double kOpensInViewer = 100e6;  // bytes, gzipped: about the most that Perfetto loads in a browser

}  // namespace

Estimate estimate(const std::vector<PlannedWindow>& windows, const Spec& spec, std::int64_t events_per_step) {
  std::int64_t steps = 0;
  for (const PlannedWindow& window : windows) steps = std::max(steps, window.last - window.first + 1);
  Estimate out;
  const auto per_step = static_cast<double>(events_per_step);
  out.events = static_cast<double>(steps) * per_step;
  const double frames = spec.with_stack || spec.native_stack ? static_cast<double>(spec.stack_depth) : 0;
  const double inputs = spec.record_shapes ? 1 : 0;
  out.trace_bytes = out.events * (kTraceBytesPerEvent + inputs * kTraceBytesOfInputs + frames * kTraceBytesPerFrame);
  out.gzip_bytes = out.trace_bytes / kGzipRatio;
  out.memory_bytes = out.events * kSpoolBytesPerEvent;
  const bool reads_inputs = spec.record_shapes || spec.with_flops;
  out.microseconds_per_step =
      per_step * (kNanosecondsPerEvent + (reads_inputs ? kNanosecondsOfInputs : 0) + frames * kNanosecondsPerFrame) /
      1000;
  return out;
}

std::string size_text(double bytes) {
  constexpr double kMost = 1e18;
  return format_size(static_cast<std::uint64_t>(std::min(bytes, kMost)));
}

std::int64_t steps_until_over(const Schedule& schedule) {
  std::int64_t steps = 1;
  constexpr std::int64_t kFar = std::int64_t{1} << 60;
  while (steps < kFar && !schedule.is_over(steps)) steps *= 2;
  return steps;
}

std::vector<SizeWarning> size_warnings(const Spec& spec, const Estimate& e) {
  const std::string window_key = spec.schedule.steps.empty() ? "schedule.active" : "schedule.steps";
  std::vector<SizeWarning> warnings;
  if (e.gzip_bytes > kOpensInViewer) {
    warnings.push_back({window_key, "the trace will be too large for a viewer", "record fewer steps"});
  }
  if (e.trace_bytes > static_cast<double>(spec.limits.trace_size)) {
    warnings.push_back({"limits.trace_size",
                        "the trace will reach " + format_size(spec.limits.trace_size) +
                            ", which closes the window before its last step",
                        "record fewer steps or raise the limit"});
  }
  if (e.memory_bytes > static_cast<double>(spec.limits.host_memory)) {
    warnings.push_back({"limits.host_memory",
                        "the events will fill " + format_size(spec.limits.host_memory) + " before the window ends",
                        "record fewer steps, raise the limit, or set limits.on_limit = \"drop_old\""});
  }
  return warnings;
}

}  // namespace profshim::cli
