#include "first_spec.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cli/command.h"
#include "profshim/analysis.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/text/number_text.h"
#include "profshim/json.h"
#include "profshim/spec.h"

namespace profshim::cli {
namespace {

constexpr int kFewRanks = 4;

struct Cycle {
  std::int64_t skip_first = 0, warmup = 0, active = 1;
};

/// Makes windows of about a quarter of a second: at least 3 steps (HTA and TensorBoard need them), at most 20, and at
/// most a quarter of limits.trace_size. All of it lies in the steps that were seen: the next run may be no longer.
Cycle cycle_for(const SeenJob& job) {
  constexpr double kWindowNs = 0.25e9;
  constexpr std::int64_t kLeast = 3, kMost = 20, kSkipFirst = 10;
  const auto seen = static_cast<std::int64_t>(job.loop->steps);
  const double room = static_cast<double>(Spec().limits.trace_size) / 4;
  const double by_time = std::ceil(kWindowNs / std::max(job.loop->period_ns, 1.0));
  const double by_size = std::floor(room / std::max(job.loop->bytes_per_step, 1.0));
  Cycle cycle;
  cycle.active =
      static_cast<std::int64_t>(std::min(std::clamp<double>(by_time, kLeast, kMost), std::max(by_size, 1.0)));
  cycle.active = std::clamp<std::int64_t>(seen / 3, 1, cycle.active);
  cycle.warmup = seen > cycle.active + 1 ? 1 : 0;
  cycle.skip_first = std::clamp<std::int64_t>((seen - cycle.active - cycle.warmup) / 2, 0, kSkipFirst);
  return cycle;
}

std::string time_text(double ns) {
  const double value = ns < 1e6 ? ns / 1e3 : ns < 1e9 ? ns / 1e6 : ns / 1e9;
  return rounded_text(value, 3) + (ns < 1e6 ? " us" : ns < 1e9 ? " ms" : " s");
}

std::string size_text(double bytes) { return format_size(static_cast<std::uint64_t>(std::min(bytes, 1e18))); }

std::string marker_text(const SeenLoop& loop) {
  std::string text = loop.marker.every > 1 ? std::to_string(loop.marker.every) + " calls of " : "";
  return text + printable(loop.marker.source.empty() ? loop.begins_at : loop.marker.pattern);
}

/// Pads a setting so that comments stand below each other.
std::string line(std::string setting, const std::string& comment) {
  constexpr std::size_t kColumn = 28;
  if (comment.empty()) return setting + "\n";
  if (setting.size() < kColumn) setting.resize(kColumn, ' ');
  return setting + "  # " + comment + "\n";
}

std::string head(const SeenJob& job) {
  constexpr std::size_t kLongest = 90;
  std::string command = printable(job.command);
  if (command.size() > kLongest) command = printable(command.substr(0, kLongest)) + " ...";
  std::string seen = job.launcher.empty() ? "no launcher" : "launcher " + job.launcher;
  for (const std::string& framework : job.frameworks) seen += ", " + printable(framework);
  if (job.frameworks.empty()) seen += ", neither MPI nor PyTorch";
  if (job.world_size > 0) seen += "; " + plural(static_cast<std::uint64_t>(job.world_size), "rank");
  if (job.groups > 1) seen += " in the largest of " + std::to_string(job.groups) + " groups of processes";
  return "# By profshim init, from: " + command + "\n# Seen: " + seen + "\n";
}

std::string steps_comment(const SeenLoop& loop) {
  const std::string rate = rounded_text(1e9 / std::max(loop.period_ns, 1.0), 3);
  std::string steps = plural(loop.steps, "step");
  if (static_cast<double>(loop.most_steps) > 1.1 * static_cast<double>(loop.steps))
    steps = std::to_string(loop.steps) + " to " + plural(loop.most_steps, "step") + " of a rank";
  return "# Steps: " + marker_text(loop) + "; " + steps + " seen, " + time_text(loop.period_ns) + " each (" + rate +
         " per second); confidence: " + text_of(loop.confidence) +
         (loop.confidence == loop::Confidence::kLow ? "; look at a first trace\n" : "\n");
}

std::string ranks(const SeenJob& job) {
  std::string select = job.world_size > kFewRanks ? "0, last" : job.world_size > 1 ? "all" : "0";
  std::string why = job.world_size > 1 ? "of " + std::to_string(job.world_size) : "";
  if (job.loop && !job.loop->ranks.empty()) {
    select = rank_list(job.loop->ranks);
    why = "ranks with these steps";
  }
  return "\n[ranks]\n" + line("select = \"" + select + "\"", why);
}

std::string marker_keys(const SeenJob& job) {
  if (job.groups > 1) return "\n[steps]\n" + line("source = \"auto\"", "each group of processes may have other steps");
  const StepMarker& marker = job.loop->marker;
  std::string out = "\n[steps]\n" + line("source = \"" + marker.source + "\"", "\"auto\" looks for them in each run") +
                    "pattern = " + json_string(marker.pattern) + "\n";
  if (marker.at_end) out += line("edge = \"end\"", "the marker is the end of a step");
  if (marker.every > 1) out += line("every = " + std::to_string(marker.every), "markers in a step");
  return out;
}

std::string marked_steps(const SeenJob& job) {
  const Cycle cycle = cycle_for(job);
  const double steps = static_cast<double>(cycle.active);
  std::string out = marker_keys(job);
  out += "\n[schedule]\nskip_first = " + std::to_string(cycle.skip_first) +
         "\nwarmup = " + std::to_string(cycle.warmup) + "\n" +
         line("active = " + std::to_string(cycle.active), time_text(steps * job.loop->period_ns) + ", about " +
                                                              size_text(steps * job.loop->bytes_per_step) +
                                                              " of trace for each rank") +
         "repeat = 1\n";
  const double largest = static_cast<double>(Spec().limits.trace_size);
  if (2 * steps * job.loop->bytes_per_step > largest) {
    const double wanted = std::ceil(2 * steps * job.loop->bytes_per_step / largest);
    out += "\n[limits]\n" +
           line("trace_size = \"" + std::to_string(static_cast<std::int64_t>(wanted)) + "GiB\"", "twice a window");
  }
  return out;
}

std::string unmarked_steps(const SeenJob& job) {
  if (job.to_its_end)
    return "\n[steps]\n" + line("source = \"none\"", "the whole job is one window") + "\n[limits]\n" +
           line("window_seconds = 300", "the window is closed after this time");
  return "\n[steps]\n" + line("source = \"time\"", "a step is a stretch of time") + "every_ms = 1000\n" +
         "\n[schedule]\nskip_first = 2\nwarmup = 1\nactive = 3\nrepeat = 1\n";
}

std::string no_steps_comment(const SeenJob& job) {
  if (!job.has_trace)
    return "# Nothing was recorded: no process became a rank of MPI or used PyTorch; `profshim doctor -- COMMAND` says "
           "more.\n";
  if (!job.loop) return "# No steps: no call recurred until the end of the recording.\n";
  return "# A loop of " + time_text(job.loop->period_ns) + " begins at " + printable(job.loop->begins_at) +
         ", which no steps.source can mark: mark the step with an NVTX range.\n";
}

}  // namespace

std::string first_spec(const SeenJob& job) {
  const bool has_steps = job.loop && !job.loop->marker.source.empty();
  std::string out = head(job) + (has_steps ? steps_comment(*job.loop) : no_steps_comment(job));
  out += "version = 1\n" + ranks(job);
  out += has_steps ? marked_steps(job) : unmarked_steps(job);
  return out + "\n[output]\n" + line("folder = \"./profshim/{run_name}\"", "");
}

}  // namespace profshim::cli
