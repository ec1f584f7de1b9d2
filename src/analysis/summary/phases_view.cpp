#include "phases_view.h"

#include <algorithm>

#include "analysis/model/event_args.h"
#include "analysis/model/statistics.h"
#include "view_tables.h"

namespace profshim::analysis_detail {
namespace {

/// Returns the part of the slice that lies in whole steps.
std::int64_t time_in_steps(const Slice& slice, const std::vector<Step>& steps) {
  std::int64_t sum = 0;
  auto at = std::partition_point(steps.begin(), steps.end(),
                                 [&](const Step& step) { return step.begin_ns + step.duration_ns <= slice.begin_ns; });
  for (; at != steps.end() && at->begin_ns < slice.end_ns(); ++at) {
    const std::int64_t begin = std::max(at->begin_ns, slice.begin_ns),
                       end = std::min(at->begin_ns + at->duration_ns, slice.end_ns());
    sum = bounded_sum(sum, std::max<std::int64_t>(difference(end, begin), 0));
  }
  return sum;
}

}  // namespace

void PhasesView::Row::add(const Row& other) {
  occurrences += other.occurrences;
  longest_ns = std::max(longest_ns, other.longest_ns);
  calls += other.calls;
  activities += other.activities;
  total_ns += other.total_ns;
  device_ns += other.device_ns;
  in_steps_ns += other.in_steps_ns;
  for (std::size_t n = 0; n < kPerfCounters; ++n) {
    sums[n] += other.sums[n];
    counted[n] += other.counted[n];
  }
  percents += other.percents;
  estimated += other.estimated;
}

void PhasesView::Row::add(const CountedPhase& phase) {
  for (std::size_t n = 0; n < kPerfCounters; ++n) {
    if (phase.counted.counters[n] < 0) continue;
    sums[n] += phase.counted.counters[n];
    counted[n] += phase.resumed ? 0 : 1;
  }
  if (phase.counted.percent < 0) return;
  percents += phase.counted.percent;
  ++estimated;
}

Counted PhasesView::Row::means() const {
  Counted means;
  for (std::size_t n = 0; n < kPerfCounters; ++n) {
    if (counted[n] > 0) means.counters[n] = sums[n] / static_cast<double>(counted[n]);
  }
  if (estimated > 0) means.percent = percents / static_cast<double>(estimated);
  return means;
}

void PhasesView::add(const Timeline& timeline, int rank) {
  RankRows& of_rank = ranks_[rank];
  auto& rows = of_rank.rows;
  for (const Step& step : timeline.steps) of_rank.steps_ns += static_cast<double>(step.duration_ns);
  for (const CountedPhase& phase : timeline.counted_phases) rows[names_.add(timeline.texts[phase.name])].add(phase);
  for (const Slice& s : timeline.slices) {
    if (s.kind == Kind::kPhase) {
      rows[names_.add(timeline.name_of(s))].add({.occurrences = s.resumed ? 0 : 1,
                                                 .longest_ns = s.duration_ns,
                                                 .total_ns = static_cast<double>(s.duration_ns),
                                                 .in_steps_ns = static_cast<double>(time_in_steps(s, timeline.steps))});
    }
    if (s.phases == 0) continue;
    Row inside;
    if (is_host(s.kind)) inside.calls = 1;
    if (is_device_work(s.kind)) {
      inside.activities = 1;
      inside.device_ns = static_cast<double>(s.duration_ns);
    }
    for_each_phase(timeline.texts[s.phases], [&](std::string_view phase) { rows[names_.add(phase)].add(inside); });
  }
}

void PhasesView::append(const Cell& rank, const RankRows& of, const Texts& names, ViewTable& table,
                        std::vector<Counted>& means) {
  std::vector<std::pair<TextId, Row>> rows(of.rows.begin(), of.rows.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.total_ns > b.second.total_ns; });
  for (const auto& [name, row] : rows) {
    const double mean = row.occurrences > 0 ? to_us(row.total_ns) / static_cast<double>(row.occurrences) : 0;
    Cell share;
    if (of.steps_ns > 0) share = 100 * row.in_steps_ns / of.steps_ns;
    table.rows.push_back({rank, std::string(names[name]), row.occurrences, to_us(row.total_ns), mean,
                          to_us(row.longest_ns), share, row.calls, row.activities, to_us(row.device_ns)});
    means.push_back(row.means());
  }
}

View PhasesView::finish() {
  View view{.key = "phases"};
  ViewTable table{.key = "phases",
                  .title = "Phases",
                  .columns = {{"rank", "Rank"},
                              {"phase", "Phase"},
                              {"occurrences", "Occurrences"},
                              {"total_us", "Total", Unit::kTime},
                              {"mean_us", "Mean", Unit::kTime},
                              {"longest_us", "Longest", Unit::kTime},
                              {"share_percent", "Share of steps", Unit::kPercent},
                              {"calls", "Calls"},
                              {"device_activities", "Device activities"},
                              {"device_us", "Device time", Unit::kTime}},
                  .limit_each = true};
  RankRows sum;
  for (const auto& [rank, of] : ranks_) {
    sum.steps_ns += of.steps_ns;
    for (const auto& [name, row] : of.rows) sum.rows[name].add(row);
  }
  std::vector<Counted> means;
  if (ranks_.size() > 1) append("all", sum, names_, table, means);
  for (const auto& [rank, of] : ranks_) append(std::int64_t{rank}, of, names_, table, means);
  append_counter_columns(means, table);
  if (sum.rows.empty()) view.notes.emplace_back("No phases: name them with [[phase]] in the spec");
  view.tables = {std::move(table)};
  return view;
}

}  // namespace profshim::analysis_detail
