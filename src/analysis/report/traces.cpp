#include "traces.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <unordered_map>

#include "analysis/model/statistics.h"
#include "profshim/trace/completeness.h"
#include "tables.h"
#include "words.h"

namespace profshim::analysis_detail {
namespace {

/// Returns "device: dropped records" for device.dropped_records.
std::string loss_words(std::string_view path) {
  std::string words;
  for (const char c : path) words += c == '_' ? std::string(" ") : c == '.' ? std::string(": ") : std::string(1, c);
  return words;
}

TraceDescription describe(const Timeline& timeline) {
  TraceDescription description{.path = timeline.path, .host = timeline.host};
  description.rank = timeline.rank;
  description.world_size = timeline.world_size;
  description.ours = timeline.dialect == Dialect::kProfshim;
  description.complete = timeline.complete;
  description.missing = timeline.missing;
  description.cut_off = timeline.truncated;
  description.without_durations = timeline.without_durations;
  description.dropped = timeline.dropped;
  description.events = timeline.slices.size();
  for (const Step& step : timeline.steps) description.steps.insert(step.number);
  if (!timeline.slices.empty()) {
    description.first_ns = std::numeric_limits<std::int64_t>::max();
    description.last_ns = std::numeric_limits<std::int64_t>::min();
    for (const Slice& s : timeline.slices) {
      description.first_ns = std::min(description.first_ns, s.begin_ns);
      description.last_ns = std::max(description.last_ns, s.end_ns());
    }
  }
  description.load = window_load(timeline);
  if (!timeline.recording) return description;
  const RecordingInfo& recording = *timeline.recording;
  description.run_name = recording.run_name;
  description.command = recording.command;
  description.steps_source = recording.steps_source;
  if (!recording.first_step_marker.empty() && !description.steps_source.empty())
    description.steps_source += " (" + recording.first_step_marker + ")";
  description.window = recording.window.value_or(-1);
  description.limited = recording.truncated;
  description.recovered = recording.recovered;
  description.problems = recording.problems;
  for (const auto& [path, count] : recording.losses) description.losses.emplace_back(loss_words(path), count);
  return description;
}

/// Compares steps rather than times if possible: activity may reach into the next window.
bool are_two_windows(const TraceDescription& a, const TraceDescription& b) {
  if (a.ours && b.ours && a.run_name == b.run_name && a.window != b.window) return true;
  if (!a.steps.empty() && !b.steps.empty()) {
    return std::none_of(a.steps.begin(), a.steps.end(), [&](std::int64_t n) { return b.steps.count(n) != 0; });
  }
  return a.last_ns <= b.first_ns || b.last_ns <= a.first_ns;
}

std::string losses_text(const TraceDescription& description) {
  std::string text;
  for (const auto& [what, count] : description.losses) {
    text += (text.empty() ? "" : ", ") + what + " " + std::to_string(count);
  }
  return !text.empty() ? text : description.ours ? "none" : "unknown";
}

}  // namespace

std::vector<LoadedTrace> load_ranks(const std::string& path, std::vector<RankClock>& clocks,
                                    std::vector<std::string>& warnings, bool& truncated) {
  std::vector<LoadedTrace> loaded;
  for (Timeline& timeline : load_timelines(path)) {
    warnings.insert(warnings.end(), timeline.warnings.begin(), timeline.warnings.end());
    truncated = truncated || timeline.truncated;
    if (const auto& rank = timeline.merged) {
      clocks.push_back({rank->rank, rank->host, rank->clock, rank->offset_us, rank->drift_ppm, rank->error_us});
    }
    TraceDescription description = describe(timeline);
    loaded.push_back({std::move(timeline), std::move(description)});
  }
  return loaded;
}

std::string twice_there(const std::vector<TraceDescription>& traces) {
  std::map<int, std::vector<const TraceDescription*>> ranks;
  for (const TraceDescription& t : traces) {
    for (const TraceDescription* other : ranks[t.rank]) {
      if (are_two_windows(*other, t)) continue;
      return other->path + " and " + t.path +
             (t.rank >= 0 ? " are both of rank " + std::to_string(t.rank) : std::string(" both have no rank")) +
             " and overlap in time or steps; give the traces of one job";
    }
    ranks[t.rank].push_back(&t);
  }
  return "";
}

void make_one_step(Timeline& timeline) {
  std::unordered_map<std::uint32_t, double> in_calls;
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = std::numeric_limits<std::int64_t>::min();
  for (const Slice& s : timeline.slices) {
    first = std::min(first, s.begin_ns);
    last = std::max(last, s.end_ns());
    if (is_host(s.kind) && !s.asynchronous) in_calls[s.track] += static_cast<double>(s.duration_ns);
  }
  timeline.steps.clear();
  if (first >= last) return;
  const auto most = std::max_element(in_calls.begin(), in_calls.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second < b.second : a.first > b.first;
  });
  timeline.steps.push_back(
      {.begin_ns = first, .duration_ns = difference(last, first), .track = most != in_calls.end() ? most->first : 0});
}

ReportSection losses_section(const std::vector<TraceDescription>& traces) {
  ReportSection section{.key = "losses", .title = "Recording and losses"};
  ViewTable table{.key = "traces",
                  .title = "Traces",
                  .columns = {{"rank", "Rank"},
                              {"events", "Events"},
                              {"duration_us", "Duration", Unit::kTime},
                              {"steps", "Steps"},
                              {"dropped", "Dropped"},
                              {"other", "Other losses"},
                              {"window", "Window"},
                              {"file", "File"}}};
  bool others = false;
  constexpr std::size_t kMostTraces = 256;
  std::vector<const TraceDescription*> order;
  for (const TraceDescription& t : traces) order.push_back(&t);
  const auto is_whole = [](const TraceDescription* t) {
    return t->complete && !t->limited && !t->cut_off && t->dropped == 0 && t->losses.empty() && t->problems.empty();
  };
  if (order.size() > kMostTraces) std::stable_partition(order.begin(), order.end(), std::not_fn(is_whole));
  for (const TraceDescription* const of : order) {
    const TraceDescription& t = *of;
    Cell dropped;
    if (t.ours) dropped = static_cast<std::int64_t>(t.dropped);
    others = others || !t.ours;
    std::string window = !t.ours ? "unknown" : t.limited ? "closed by a limit" : t.complete ? "complete" : "incomplete";
    if (t.cut_off) window = "the file ends early, or is damaged";
    if (t.recovered) window += ", recovered";
    table.rows.push_back({rank_cell(t.rank), static_cast<std::int64_t>(t.events),
                          to_us(difference(t.last_ns, t.first_ns)), static_cast<std::int64_t>(t.steps.size()), dropped,
                          losses_text(t), window, t.path});
  }
  keep_rows(table, kMostTraces, "incomplete ones first", section.notes);
  if (others) section.notes.emplace_back("PyTorch's own profiler does not count lost events: \"-\" means unknown.");
  std::map<std::string, std::set<int>> problems;
  for (const TraceDescription& t : traces) {
    for (const std::string& problem : t.problems) problems[problem].insert(t.rank);
  }
  ViewTable told{
      .key = "problems", .title = "Problems of the recording", .columns = {{"ranks", "Ranks"}, {"problem", "Lost"}}};
  for (const auto& [problem, ranks] : problems) told.rows.push_back({rank_list(ranks), problem});
  section.tables.push_back(std::move(table));
  if (!told.rows.empty()) section.tables.push_back(std::move(told));
  return section;
}

void add_losses(const std::vector<TraceDescription>& traces, std::vector<ReportFinding>& verdict) {
  using Level = ReportFinding::Level;
  std::set<int> here, lossy, cut, limited, early;
  std::set<std::string> problems, missing;
  std::uint64_t dropped = 0;
  int world_size = -1;
  bool known = true;
  for (const TraceDescription& t : traces) {
    here.insert(t.rank);
    world_size = std::max(world_size, t.world_size);
    known = known && t.ours;
    dropped += t.dropped;
    if (t.dropped > 0 || !t.losses.empty()) lossy.insert(t.rank);
    if (!t.complete && !t.limited) {
      cut.insert(t.rank);
      missing.insert(t.missing.begin(), t.missing.end());
    }
    if (t.limited) limited.insert(t.rank);
    if (t.cut_off) early.insert(t.rank);
    problems.insert(t.problems.begin(), t.problems.end());
  }
  for (const TraceDescription& t : traces) {
    if (t.without_durations.empty()) continue;
    verdict.push_back({Level::kNotice, "The page has no times of " + t.path + ": " + t.without_durations + "."});
  }
  if (world_size > static_cast<int>(here.size()) && here.count(-1) == 0) {
    verdict.push_back({Level::kNotice, "Traces of " + std::to_string(here.size()) + " of " +
                                           counted(world_size, "rank") + ": the others are missing."});
  }
  if (!lossy.empty()) {
    verdict.push_back({Level::kBad, "Events were lost on " + ranks_words(lossy) + " (" + counted(dropped, "event") +
                                        " dropped): counts and times are too low."});
  }
  if (!early.empty()) {
    verdict.push_back({Level::kBad, "The trace of " + ranks_words(early) +
                                        " ends early or is damaged: the page shows the other events."});
  }
  if (!limited.empty()) {
    verdict.push_back({Level::kNotice, "A limit of the spec (table [limits]) closed the window on " +
                                           ranks_words(limited) + ": raise the limit or record fewer steps."});
  }
  if (!cut.empty()) {
    verdict.push_back({Level::kNotice, "The window is incomplete on " + ranks_words(cut) + ": " +
                                           missing_text({missing.begin(), missing.end()}) + "."});
  }
  if (!problems.empty()) {
    verdict.push_back({Level::kNotice, counted(problems.size(), "problem") + " of the recording: " + *problems.begin() +
                                           (problems.size() > 1 ? " (and others, below)." : ".")});
  }
  if (known && lossy.empty() && early.empty() && problems.empty() && cut.empty() && limited.empty()) {
    verdict.push_back({Level::kGood, "No recorded event was lost."});
  } else if (!known && lossy.empty()) {
    verdict.push_back({Level::kPlain, "These traces do not contain the number of lost events."});
  }
}

}  // namespace profshim::analysis_detail
