#include "explain_steps.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "cli/command.h"
#include "profshim/analysis/trace_loop.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/text/number_text.h"
#include "profshim/json.h"
#include "profshim/json/writer.h"

namespace profshim::cli {
namespace {

using loop::Level;

/// Returns the value of steps.source for a boundary; "" if no source has such steps.
std::string_view source_of(const TraceLoop& found, const loop::Boundary& boundary) {
  return boundary.previous ? "" : loop::source_of(found.symbols[boundary.symbol]);
}

std::string time_text(double ns) {
  if (ns < 1e6) return fixed_text(ns / 1e3, 1) + " us";
  return ns < 1e9 ? fixed_text(ns / 1e6, 1) + " ms" : fixed_text(ns / 1e9, 2) + " s";
}

std::string boundary_text(const TraceLoop& found, const Level& level) {
  std::string text = level.boundary.every > 1 ? "every " + std::to_string(level.boundary.every) + " calls of " : "";
  text += found.symbols[level.boundary.symbol].name;
  if (level.boundary.previous) text += " after " + found.symbols[*level.boundary.previous].name;
  return printable(text);
}

void print_spec(const TraceLoop& found, const Level& level) {
  const std::vector<StepMarker> markers = markers_of(found, level);
  if (markers.empty()) {
    std::puts("no steps.source has these steps: mark the step with an NVTX range or record_function");
    return;
  }
  const StepMarker& marker = markers.front();
  std::printf("in the spec:\n  [steps]\n  source = \"%s\"\n  pattern = %s\n", marker.source.c_str(),
              json_string(marker.pattern).c_str());
  if (marker.at_end) std::puts("  edge = \"end\"");
  if (marker.every > 1) std::printf("  every = %u\n", marker.every);
}

void print_text(const TraceLoop& found) {
  std::printf("%s: %zu calls of thread %lld\n", printable(found.path).c_str(), found.calls,
              static_cast<long long>(found.tid));
  if (!found.finding.chosen) {
    std::puts("no loop found: no call recurs until the end; record a longer window");
    return;
  }
  std::printf("  %10s %8s %8s %8s  %s\n", "period", "cycles", "unusual", "calls", "begins at");
  for (std::size_t i = 0; i < found.finding.levels.size(); ++i) {
    const Level& level = found.finding.levels[i];
    std::printf("%c %10s %8zu %8zu %8zu  %s\n", i == *found.finding.chosen ? '*' : ' ',
                time_text(level.period_ns).c_str(), level.cycles, level.deviations, level.calls,
                boundary_text(found, level).c_str());
  }
  std::printf("* = the steps; confidence: %s\n", text_of(found.finding.confidence));
  print_spec(found, found.finding.levels[*found.finding.chosen]);
}

void write_json(JsonWriter& json, const TraceLoop& found) {
  json.open_object().member("file", found.path).member("rank", found.rank).member("thread", found.tid);
  json.member("calls", static_cast<std::uint64_t>(found.calls));
  json.member("confidence", std::string_view(text_of(found.finding.confidence))).key("levels").open_list();
  for (std::size_t i = 0; i < found.finding.levels.size(); ++i) {
    const Level& level = found.finding.levels[i];
    json.open_object().member("chosen", i == found.finding.chosen);
    json.member("name", found.symbols[level.boundary.symbol].name);
    if (level.boundary.previous) json.member("after", found.symbols[*level.boundary.previous].name);
    if (const std::string_view source = source_of(found, level.boundary); !source.empty())
      json.member("source", source);
    json.member("every", static_cast<std::uint64_t>(level.boundary.every)).member("at_end", level.boundary.at_end);
    json.member("cycles", static_cast<std::uint64_t>(level.cycles));
    json.member("unusual", static_cast<std::uint64_t>(level.deviations));
    json.member("calls", static_cast<std::uint64_t>(level.calls)).key("period_us").decimal(level.period_ns / 1e3, 3);
    json.close_object();
  }
  json.close_list().close_object();
}

}  // namespace

int explain_steps(const std::string& trace, bool json) {
  try {
    const std::vector<TraceLoop> loops = loops_of_trace(trace);
    if (!json) {
      for (const TraceLoop& found : loops) print_text(found);
      return kSuccess;
    }
    JsonWriter writer;
    writer.open_list();
    for (const TraceLoop& found : loops) write_json(writer, found);
    std::puts(std::string(writer.close_list().text()).c_str());
    return kSuccess;
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "profshim: %s\n", error.what());
    return kFailure;
  }
}

}  // namespace profshim::cli
