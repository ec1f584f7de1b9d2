#include "stragglers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/model/statistics.h"
#include "words.h"

namespace profshim::analysis_detail {
namespace {

constexpr std::size_t kMostColumns = 100, kMostRows = 64, kMostPairs = 16;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Returns the ranks that caused most of the waiting, if they are one or at most a quarter of all ranks.
std::set<int> late_ranks(const std::vector<std::pair<double, int>>& caused, double total_us, std::size_t ranks) {
  const double enough = total_us * (0.5 + 0.5 / static_cast<double>(ranks));
  std::set<int> found;
  double sum = 0;
  for (const auto& [us, rank] : caused) {
    if (us < caused[0].first / 2) break;
    found.insert(rank);
    sum += us;
  }
  return sum >= enough && found.size() <= std::max<std::size_t>(1, ranks / 4) ? found : std::set<int>{};
}

}  // namespace

void Waits::add(const CommsView::Instance& of) {
  std::string name(of.function);
  name += " on ";
  name += of.group;
  const auto [at, is_new] = name_ids_.emplace(std::move(name), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(at->first);
  instances_.push_back({.begin_ns = of.begin_ns,
                        .number = of.number,
                        .name = at->second,
                        .first = static_cast<std::uint32_t>(waits_.size()),
                        .count = static_cast<std::uint32_t>(of.waited_ns.size())});
  uncertain_ += of.last < 0 ? 1 : 0;
  if (of.last >= 0) ++ranks_[of.last].last;
  for (const auto& [rank, ns] : of.waited_ns) {
    const double us = to_us(ns);
    waits_.emplace_back(rank, us);
    Rank& waiter = ranks_[rank];
    ++waiter.met;
    waiter.waited_us += us;
    total_us_ += us;
    if (of.last < 0 || rank == of.last) continue;
    ranks_[of.last].caused_us += us;
    pairs_[{rank, of.last}] += us;
  }
}

std::vector<int> Waits::ranks_to_show(std::size_t most) const {
  std::vector<int> shown;
  for (const auto& [rank, sums] : ranks_) shown.push_back(rank);
  if (shown.size() <= most) return shown;
  std::stable_sort(shown.begin(), shown.end(),
                   [this](int a, int b) { return ranks_.at(a).caused_us > ranks_.at(b).caused_us; });
  shown.resize(most);
  std::sort(shown.begin(), shown.end());
  return shown;
}

ReportHeatMap Waits::between_ranks() const {
  ReportHeatMap map{.key = "who-waited",
                    .title = "Who waited for whom",
                    .row_axis = "this rank waited",
                    .column_axis = "for rank",
                    .shows_numbers = true};
  const std::vector<int> ranks = ranks_to_show(kMostPairs);
  for (const int waiter : ranks) {
    map.rows.push_back("rank " + rank_name(waiter));
    map.columns.push_back(rank_name(waiter));
    auto& row = map.values.emplace_back();
    for (const int last : ranks) {
      const auto at = pairs_.find({waiter, last});
      row.push_back(waiter == last ? kUnknown : at != pairs_.end() ? at->second : 0);
    }
  }
  return map;
}

ReportHeatMap Waits::along_time(std::vector<std::string>& notes) const {
  const std::size_t each = (instances_.size() + kMostColumns - 1) / kMostColumns;
  const std::vector<int> ranks = ranks_to_show(kMostRows);
  ReportHeatMap map{.key = "waits-along-time",
                    .title = "Waiting at each collective, in order of time",
                    .row_axis = "rank",
                    .column_axis = "collective"};
  std::map<int, std::size_t> rows;
  for (const int rank : ranks) {
    rows[rank] = map.rows.size();
    map.rows.push_back("rank " + rank_name(rank));
  }
  const std::size_t columns = (instances_.size() + each - 1) / each;
  map.values.assign(map.rows.size(), std::vector<double>(columns, kUnknown));
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t from = column * each, to = std::min(from + each, instances_.size());
    std::map<std::size_t, std::int64_t> counts;
    for (std::size_t i = from; i < to; ++i) {
      for (std::uint32_t k = 0; k < instances_[i].count; ++k) {
        const auto& [rank, us] = waits_[instances_[i].first + k];
        const auto row = rows.find(rank);
        if (row == rows.end()) continue;
        double& cell = map.values[row->second][column];
        cell = (std::isnan(cell) ? 0 : cell) + us;
        ++counts[row->second];
      }
    }
    for (const auto& [row, count] : counts) map.values[row][column] /= static_cast<double>(count);
    std::string label = names_[instances_[from].name];
    if (instances_[from].number >= 0) label += " #" + std::to_string(instances_[from].number);
    map.columns.push_back(each == 1 ? label
                                    : std::to_string(from + 1) + " to " + std::to_string(to) + ", from " + label);
  }
  if (each > 1) {
    notes.push_back("Each column of the second map is the mean of " + std::to_string(each) +
                    " consecutive collectives of " + std::to_string(instances_.size()) + ".");
  }
  if (ranks.size() < ranks_.size()) {
    notes.push_back("The maps show the ranks that others waited for longest: of " + counted(ranks_.size(), "rank") +
                    ", " + std::to_string(std::min(kMostPairs, ranks_.size())) + " in the first and " +
                    std::to_string(ranks.size()) + " in the second.");
  } else if (ranks_.size() > kMostPairs) {
    notes.push_back("The first map shows the " + std::to_string(kMostPairs) + " of " + counted(ranks_.size(), "rank") +
                    " that others waited for longest.");
  }
  return map;
}

void Waits::fill(ReportSection& section) {
  if (instances_.empty()) return;
  std::stable_sort(instances_.begin(), instances_.end(),
                   [](const Instance& a, const Instance& b) { return a.begin_ns < b.begin_ns; });
  section.notes.emplace_back(
      "In a collective that waits for all members, the rank with the shortest duration came last. The wait of any "
      "other "
      "rank is its duration minus that of the last rank. Broadcasts and messages are not included.");
  if (uncertain_ > 0) {
    section.notes.push_back("In " + std::to_string(uncertain_) + " of " +
                            counted(static_cast<std::int64_t>(instances_.size()), "collective") +
                            " two or more ranks came last at the same time. For these, no rank counts as last.");
  }
  ReportPlot plot{.key = "waits",
                  .kind = ReportPlot::Kind::kBars,
                  .title = "Waiting, by rank",
                  .label_axis = "Rank",
                  .value_axis = "Time",
                  .series = {{.label = "other ranks waited for this rank"}, {.label = "this rank waited for others"}}};
  ViewTable table{.key = "waits",
                  .title = "Waiting, by rank",
                  .columns = {{"rank", "Rank"},
                              {"met", "Collectives"},
                              {"last", "Came last"},
                              {"caused_us", "Others waited for this rank", Unit::kTime},
                              {"waited_us", "This rank waited", Unit::kTime}}};
  const std::vector<int> shown = ranks_to_show(kMostRows);
  for (const int rank : shown) {
    const Rank& r = ranks_.at(rank);
    plot.labels.push_back(rank_name(rank));
    plot.series[0].values.push_back(r.caused_us);
    plot.series[1].values.push_back(r.waited_us);
    table.rows.push_back({rank_cell(rank), r.met, r.last, r.caused_us, r.waited_us});
  }
  section.plots.push_back(std::move(plot));
  section.heat_maps.push_back(between_ranks());
  section.heat_maps.push_back(along_time(section.notes));
  section.tables.push_back(std::move(table));
}

void Waits::judge(double window_us, std::vector<ReportFinding>& verdict) const {
  using Level = ReportFinding::Level;
  if (instances_.empty()) return;
  std::vector<std::pair<double, int>> caused;
  double put_down_us = 0;
  for (const auto& [rank, sums] : ranks_) {
    caused.emplace_back(sums.caused_us, rank);
    put_down_us += sums.caused_us;
  }
  std::sort(caused.begin(), caused.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  const double mean_wait_us = total_us_ / static_cast<double>(ranks_.size());
  constexpr double kLittle = 0.02;  // share of the recorded time
  const std::string sentence = "A rank waited " + time_words(mean_wait_us) + " on average, " +
                               percent(mean_wait_us, window_us) + " of the recorded time";
  const auto late = late_ranks(caused, put_down_us, ranks_.size());
  if (late.empty() || mean_wait_us < kLittle * window_us) {
    const bool even = late.empty() && mean_wait_us >= kLittle * window_us;
    verdict.push_back(
        {even ? Level::kNotice : Level::kGood, (late.empty() ? "No rank stands out as late at collectives. "
                                                             : "No rank made others wait for long at collectives. ") +
                                                   sentence + "."});
    return;
  }
  double late_us = 0;
  std::int64_t last = 0;
  for (const int rank : late) {
    late_us += ranks_.at(rank).caused_us;
    last += ranks_.at(rank).last;
  }
  std::string text = late.size() == 1 ? "Rank " + rank_list(late) : "Ranks " + rank_list(late);
  text += " came last at " + std::to_string(last) + " of " +
          counted(static_cast<std::int64_t>(instances_.size()), "collective") + "; together the others waited " +
          time_words(late_us) + " for " + (late.size() == 1 ? "it, " : "them, ") + percent(late_us, put_down_us) +
          " of all waiting. " + sentence + ".";
  verdict.push_back({Level::kBad, std::move(text)});
}

}  // namespace profshim::analysis_detail
