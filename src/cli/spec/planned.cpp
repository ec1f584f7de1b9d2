#include "planned.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <limits>

#include "estimate.h"
#include "profshim/base/text/message_text.h"

namespace profshim::cli {
namespace {

/// Does not iterate over steps: a window may hold very many.
std::int64_t last_step_of(const Schedule& schedule, std::int64_t first) {
  if (schedule.steps.empty()) {
    std::int64_t last = 0;
    return __builtin_add_overflow(first, schedule.active - 1, &last) ? std::numeric_limits<std::int64_t>::max() : last;
  }
  if (!schedule.continuous) return first;
  return std::lower_bound(schedule.steps.begin(), schedule.steps.end(), first,
                          [](const StepRange& range, std::int64_t step) { return range.last < step; })
      ->last;
}

}  // namespace

std::vector<PlannedWindow> planned_windows(const Schedule& schedule, std::int64_t steps, std::size_t most) {
  std::vector<PlannedWindow> windows;
  auto first = schedule.next_recorded(0);
  while (first && *first < steps && windows.size() < most) {
    const std::int64_t last = last_step_of(schedule, *first);
    windows.push_back({*first, std::min(last, steps - 1), last < steps});
    if (last >= steps) break;
    first = schedule.next_recorded(last + 1);
  }
  return windows;
}

namespace {

constexpr std::size_t kMostWindows = 8;

/// A phase without ticks has one window for each recorded occurrence.
std::vector<PlannedWindow> one_each(const std::vector<PlannedWindow>& windows) {
  std::vector<PlannedWindow> out;
  for (const PlannedWindow& window : windows) {
    for (std::int64_t i = window.first; i <= window.last && out.size() <= kMostWindows; ++i)
      out.push_back({i, i, true});
  }
  return out;
}

std::string unit_of(const PlannedPhase& phase) { return phase.spec->ticks ? "ticks" : "occurrences"; }

void add_files(const Spec& spec, const Rank& rank, NameValues names, PlannedPhase& phase) {
  names.rank = rank;
  names.phase = phase.spec->name;
  names.words = {{"step", "STEP"},       {"first_step", "STEP"}, {"last_step", "STEP"}, {"window", "WINDOW"},
                 {"time_ns", "TIME_NS"}, {"time", "TIME"},       {"pid", "PID"}};
  for (const PlannedWindow& window : phase.windows) {
    names.occurrence = window.first;
    if (phase.spec->ticks) names.words["occurrence"] = "OCCURRENCE";
    std::string added;
    phase.files.push_back(trace_file_name(spec, names, added));
  }
}

}  // namespace

std::string rank_set(const std::vector<int>& ranks) {
  std::string out;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i;
    while (end + 1 < ranks.size() && ranks[end + 1] == ranks[end] + 1) ++end;
    out += (out.empty() ? "" : ",") + std::to_string(ranks[i]);
    if (end > i) out += (end == i + 1 ? "," : "-") + std::to_string(ranks[end]);
    i = end + 1;
  }
  return out;
}

std::vector<PlannedPhase> plan_phases(const Spec& spec, const std::vector<Rank>& ranks, const NameValues& names) {
  std::vector<PlannedPhase> phases;
  for (const PhaseSpec& one : spec.phases) {
    PlannedPhase& phase = phases.emplace_back();
    phase.spec = &one;
    const Rank* first = nullptr;
    for (const Rank& rank : ranks) {
      if (!is_selected(spec, one, rank)) continue;
      if (first == nullptr) first = &rank;
      phase.ranks.push_back(rank.rank);
    }
    if (!one.has_windows || first == nullptr) continue;
    const Schedule schedule = schedule_of(spec, one);
    phase.windows = planned_windows(schedule, steps_until_over(schedule), kMostWindows + 1);
    if (!one.ticks) phase.windows = one_each(phase.windows);
    phase.windows_go_on = phase.windows.size() > kMostWindows || (schedule.steps.empty() && schedule.repeat == 0);
    if (phase.windows.size() > kMostWindows) phase.windows.resize(kMostWindows);
    add_files(spec, *first, names, phase);
  }
  return phases;
}

void print_phases(const std::vector<PlannedPhase>& phases) {
  for (const PlannedPhase& phase : phases) {
    const PhaseSpec& spec = *phase.spec;
    std::printf("\nphase %s: %s \"%s\", %s on ranks %s\n", printable(spec.name).c_str(),
                std::string(to_text(spec.ranges_of.source)).c_str(), printable(spec.ranges_of.pattern).c_str(),
                spec.has_windows ? "traces of its own" : "marked in the traces of steps",
                phase.ranks.empty() ? "none" : rank_set(phase.ranks).c_str());
    for (std::size_t i = 0; i < phase.windows.size(); ++i) {
      const PlannedWindow& window = phase.windows[i];
      std::printf("  rank %d, %s %" PRId64, phase.ranks.front(), unit_of(phase).c_str(), window.first);
      if (window.last != window.first) std::printf(" to %" PRId64, window.last);
      std::printf(": %s\n", printable(phase.files[i]).c_str());
    }
    if (phase.windows_go_on) std::printf("  ... and more: the first %zu are shown\n", phase.windows.size());
  }
}

void write_phases(JsonWriter& json, const std::vector<PlannedPhase>& phases) {
  json.open_list();
  for (const PlannedPhase& phase : phases) {
    json.line_unless_first(2).open_object().member("name", phase.spec->name);
    json.member("source", to_text(phase.spec->ranges_of.source)).member("pattern", phase.spec->ranges_of.pattern);
    json.member("mode", phase.spec->has_windows ? "window" : "mark").list("ranks", phase.ranks);
    json.member("unit", unit_of(phase)).key("windows").open_list();
    for (const PlannedWindow& window : phase.windows)
      json.open_object().member("first", window.first).member("last", window.last).close_object();
    json.close_list().member("windows_go_on", phase.windows_go_on).list("files", phase.files).close_object();
  }
  json.close_list();
}

}  // namespace profshim::cli
