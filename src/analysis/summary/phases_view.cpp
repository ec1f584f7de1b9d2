#include "phases_view.h"

#include <algorithm>

#include "analysis/model/statistics.h"
#include "trace/schema.h"

namespace profshim::analysis_detail {
namespace {

template <class Function>
void for_each_phase(std::string_view path, const Function& function) {
  while (!path.empty()) {
    const std::size_t end = path.find(schema::kPhaseSeparator);
    function(path.substr(0, end));
    path = end == std::string_view::npos ? "" : path.substr(end + schema::kPhaseSeparator.size());
  }
}

}  // namespace

void PhasesView::Row::add(const Row& other) {
  occurrences += other.occurrences;
  longest_ns = std::max(longest_ns, other.longest_ns);
  calls += other.calls;
  activities += other.activities;
  total_ns += other.total_ns;
  device_ns += other.device_ns;
}

void PhasesView::add(const Timeline& timeline, int rank) {
  Rows& rows = ranks_[rank];
  for (const Slice& s : timeline.slices) {
    if (s.kind == Kind::kPhase) {
      rows[names_.add(timeline.name_of(s))].add(
          {.occurrences = 1, .longest_ns = s.duration_ns, .total_ns = static_cast<double>(s.duration_ns)});
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
                              {"calls", "Calls"},
                              {"device_activities", "Device activities"},
                              {"device_us", "Device time", Unit::kTime}},
                  .limit_each = true};
  const auto append = [&](const Cell& rank, const Rows& of) {
    std::vector<std::pair<TextId, Row>> rows(of.begin(), of.end());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.second.total_ns > b.second.total_ns; });
    for (const auto& [name, row] : rows) {
      const double mean = row.occurrences > 0 ? to_us(row.total_ns) / static_cast<double>(row.occurrences) : 0;
      table.rows.push_back({rank, std::string(names_[name]), row.occurrences, to_us(row.total_ns), mean,
                            to_us(row.longest_ns), row.calls, row.activities, to_us(row.device_ns)});
    }
  };
  Rows sum;
  for (const auto& [rank, of] : ranks_) {
    for (const auto& [name, row] : of) sum[name].add(row);
  }
  if (ranks_.size() > 1) append("all", sum);
  for (const auto& [rank, of] : ranks_) append(std::int64_t{rank}, of);
  if (sum.empty()) view.notes.emplace_back("No phases: name them with [[phase]] in the spec");
  view.tables = {std::move(table)};
  return view;
}

}  // namespace profshim::analysis_detail
