#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "analysis/model/statistics.h"
#include "analysis/summary/view_tables.h"
#include "sections.h"
#include "tables.h"
#include "words.h"

namespace profshim::analysis_detail {
namespace {

constexpr std::size_t kMostLines = 8, kMostPoints = 400, kMostBars = 24;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct StepTimes {
  int rank = -1;
  std::int64_t number = 0;
  bool on_device = false;
  double all_us = 0, busy_us = 0, compute_us = 0, communication_us = 0, exposed_us = 0;
};

std::vector<StepTimes> times_of(const View& view) {
  std::vector<StepTimes> result;
  const ViewTable steps = with_columns(
      table_of(view, "steps"),
      {"rank", "step", "of", "duration_us", "busy_us", "compute_us", "communication_us", "exposed_communication_us"});
  for (const auto& row : steps.rows) {
    result.push_back({.rank = static_cast<int>(std::get<std::int64_t>(row[0])),
                      .number = std::get<std::int64_t>(row[1]),
                      .on_device = std::get<std::string>(row[2]) == "device",
                      .all_us = number_of(row[3]),
                      .busy_us = number_of(row[4]),
                      .compute_us = number_of(row[5]),
                      .communication_us = number_of(row[6]),
                      .exposed_us = number_of(row[7])});
  }
  return result;
}

struct RankMeans {
  double steps = 0;
  StepTimes sum;
  double mean_us(double StepTimes::*value) const { return steps > 0 ? sum.*value / steps : 0; }
};

std::map<int, RankMeans> means_of(const std::vector<StepTimes>& steps) {
  std::map<int, RankMeans> means;
  for (const StepTimes& step : steps) {
    RankMeans& rank = means[step.rank];
    ++rank.steps;
    rank.sum.on_device = rank.sum.on_device || step.on_device;
    for (double StepTimes::*const value : {&StepTimes::all_us, &StepTimes::busy_us, &StepTimes::compute_us,
                                           &StepTimes::communication_us, &StepTimes::exposed_us}) {
      rank.sum.*value += step.*value;
    }
  }
  return means;
}

std::vector<int> by_step_time(const std::map<int, RankMeans>& means) {
  std::vector<int> ranks;
  for (const auto& [rank, mean] : means) ranks.push_back(rank);
  std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
    return means.at(a).mean_us(&StepTimes::all_us) > means.at(b).mean_us(&StepTimes::all_us);
  });
  return ranks;
}

std::vector<int> most_unlike(const std::map<int, RankMeans>& means, std::size_t most) {
  std::vector<std::pair<double, int>> unlike;
  for (const auto& [rank, mean] : means) unlike.emplace_back(0, rank);
  for (double StepTimes::*const value : {&StepTimes::all_us, &StepTimes::busy_us, &StepTimes::communication_us}) {
    std::vector<double> all;
    for (const auto& [rank, mean] : means) all.push_back(mean.mean_us(value));
    const double middle = median(all);
    for (auto& [by, rank] : unlike) by += std::fabs(means.at(rank).mean_us(value) - middle);
  }
  std::stable_sort(unlike.begin(), unlike.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  unlike.resize(std::min(unlike.size(), most));
  std::vector<int> ranks;
  for (const auto& [by, rank] : unlike) ranks.push_back(rank);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

/// With many ranks, draws only the slowest ranks and the range of all.
class Lines {
 public:
  explicit Lines(const std::vector<StepTimes>& steps) : means_(means_of(steps)) {
    std::set<std::int64_t> numbers;
    for (const StepTimes& step : steps) numbers.insert(step.number);
    each_ = (numbers.size() + kMostPoints - 1) / kMostPoints;
    std::size_t i = 0;
    for (const std::int64_t number : numbers) {
      if (i % each_ == 0) labels_.push_back(std::to_string(number));
      points_[number] = i++ / each_;
    }
    for (const StepTimes& step : steps) {
      auto& values = of_rank_[step.rank];
      values.resize(labels_.size(), kUnknown);
      double& value = values[points_.at(step.number)];
      value = std::isnan(value) ? step.all_us : std::max(value, step.all_us);
    }
  }

  ReportPlot plot(std::vector<std::string>& notes) const {
    ReportPlot plot{.key = "step-time",
                    .kind = ReportPlot::Kind::kLines,
                    .title = "Duration of each step",
                    .label_axis = "Step",
                    .value_axis = "Duration",
                    .labels = labels_};
    if (each_ > 1) {
      notes.push_back("Each point of the lines is the longest of " + std::to_string(each_) + " consecutive steps.");
    }
    if (of_rank_.size() <= kMostLines) {
      for (const auto& [rank, values] : of_rank_) plot.series.push_back({"rank " + rank_name(rank), values});
      return plot;
    }
    add_range(plot);
    std::vector<int> slowest = by_step_time(means_);
    slowest.resize(kMostLines - 3);
    for (const int rank : slowest) plot.series.push_back({"rank " + rank_name(rank), of_rank_.at(rank)});
    notes.push_back("The lines show the fastest, the median and the slowest of " + counted(of_rank_.size(), "rank") +
                    " at each step, and the " + std::to_string(slowest.size()) + " ranks with the longest steps.");
    return plot;
  }

 private:
  void add_range(ReportPlot& plot) const {
    plot.series = {{.label = "slowest"}, {.label = "median"}, {.label = "fastest"}};
    for (std::size_t point = 0; point < labels_.size(); ++point) {
      std::vector<double> here;
      for (const auto& [rank, values] : of_rank_) {
        if (!std::isnan(values[point])) here.push_back(values[point]);
      }
      const auto [least, most] = std::minmax_element(here.begin(), here.end());
      plot.series[0].values.push_back(here.empty() ? kUnknown : *most);
      plot.series[1].values.push_back(here.empty() ? kUnknown : median(here));
      plot.series[2].values.push_back(here.empty() ? kUnknown : *least);
    }
  }

  std::map<int, RankMeans> means_;
  std::size_t each_ = 1;  // steps per point
  std::vector<std::string> labels_;
  std::map<std::int64_t, std::size_t> points_;
  std::map<int, std::vector<double>> of_rank_;
};

ReportPlot split_plot(const std::map<int, RankMeans>& means, bool whole_windows, std::vector<std::string>& notes) {
  ReportPlot plot{.key = "time-split",
                  .kind = ReportPlot::Kind::kStackedBars,
                  .title = whole_windows ? "Time of each rank" : "Time of a step, by rank (means)",
                  .label_axis = "Rank",
                  .value_axis = "Time"};
  const bool device = std::any_of(means.begin(), means.end(), [](const auto& m) { return m.second.sum.on_device; });
  const bool host = std::any_of(means.begin(), means.end(), [](const auto& m) { return !m.second.sum.on_device; });
  const std::vector<int> ranks = most_unlike(means, kMostBars);
  if (ranks.size() < means.size()) {
    notes.push_back("Bars and table show " + std::to_string(ranks.size()) + " of " + counted(means.size(), "rank") +
                    ": those that differ most from the median.");
  }
  for (const int rank : ranks) plot.labels.push_back(rank_name(rank));
  int color = 0;  // each part has one color on every page
  const auto add = [&](const char* label, bool of_device, auto&& value, bool quiet = false) {
    ReportPlot::Series series{.label = label, .quiet = quiet, .color = color++};
    double sum = 0;
    for (const int rank : ranks) {
      const RankMeans& m = means.at(rank);
      series.values.push_back(m.sum.on_device == of_device ? std::max(0.0, value(m.sum) / m.steps) : 0);
      sum += series.values.back();
    }
    constexpr double kLeast_us = 1e-3;  // less is a rounding error
    if (sum >= kLeast_us) plot.series.push_back(std::move(series));
  };
  if (device) {
    add("compute", true, [](const StepTimes& s) { return s.compute_us - (s.communication_us - s.exposed_us); });
    add("compute and communication at once", true,
        [](const StepTimes& s) { return s.communication_us - s.exposed_us; });
    add("communication alone (exposed)", true, [](const StepTimes& s) { return s.exposed_us; });
    add("copies alone", true, [](const StepTimes& s) { return s.busy_us - s.compute_us - s.exposed_us; });
    add(
        "device idle", true, [](const StepTimes& s) { return s.all_us - s.busy_us; }, true);
  }
  if (host) {
    color = 0;
    add("other calls", false, [](const StepTimes& s) { return s.compute_us; });
    add("calls that communicate", false, [](const StepTimes& s) { return s.communication_us; });
    add(
        "in no recorded call", false, [](const StepTimes& s) { return s.all_us - s.busy_us; }, true);
    notes.emplace_back(
        "Without device activity, the time is that of the thread with the steps. \"in no recorded call\" is the "
        "program's own code.");
  }
  return plot;
}

ViewTable split_table(const std::map<int, RankMeans>& means, bool whole_windows) {
  ViewTable table{.key = "split",
                  .title = whole_windows ? "Time of each rank" : "Mean step of each rank",
                  .columns = {{"rank", "Rank"},
                              {"of", "Measured on"},
                              {"mean_us", whole_windows ? "Duration" : "Mean step", Unit::kTime},
                              {"busy_percent", "Busy", Unit::kPercent},
                              {"communication_percent", "Communication", Unit::kPercent},
                              {"idle_percent", "Idle", Unit::kPercent}}};
  const bool device = std::any_of(means.begin(), means.end(), [](const auto& m) { return m.second.sum.on_device; });
  if (device) table.columns.insert(table.columns.end() - 1, {"exposed_percent", "Exposed", Unit::kPercent});
  for (const int rank : most_unlike(means, kMostBars)) {
    const RankMeans& m = means.at(rank);
    const StepTimes& s = m.sum;
    const auto share = [&](double us) { return s.all_us > 0 ? 100 * us / s.all_us : 0; };
    auto& row = table.rows.emplace_back();
    row = {rank_cell(rank), std::string(s.on_device ? "device" : "host"), m.mean_us(&StepTimes::all_us),
           share(s.busy_us), share(s.communication_us)};
    if (device) row.emplace_back(s.on_device ? Cell(share(s.exposed_us)) : Cell());
    row.emplace_back(share(s.all_us - s.busy_us));
  }
  return table;
}

void judge_durations(const std::vector<StepTimes>& steps, std::vector<ReportFinding>& verdict) {
  using Level = ReportFinding::Level;
  const std::map<int, RankMeans> means = means_of(steps);
  std::vector<double> all;
  std::map<std::int64_t, double> longest;
  for (const StepTimes& step : steps) {
    all.push_back(step.all_us);
    longest[step.number] = std::max(longest[step.number], step.all_us);
  }
  const double middle = median(all);
  std::string text = "A step takes " + time_words(middle) + " (median of " + counted(all.size(), "step") + " of " +
                     counted(means.size(), "rank") + ")";
  if (means.size() > 1) {
    const std::vector<int> order = by_step_time(means);
    const double slow = means.at(order.front()).mean_us(&StepTimes::all_us),
                 fast = means.at(order.back()).mean_us(&StepTimes::all_us);
    constexpr double kMuch = 1.1;
    if (slow > kMuch * fast) {
      text += "; the mean of rank " + rank_name(order.front()) + " is " + time_words(slow) + ", that of rank " +
              rank_name(order.back()) + " " + time_words(fast);
    } else {
      text += "; the ranks' means differ by less than a tenth";
    }
  }
  verdict.push_back({Level::kPlain, text + "."});

  std::vector<std::pair<double, std::int64_t>> slow;
  constexpr double kTwice = 2;
  for (const auto& [number, us] : longest) {
    if (us > kTwice * middle) slow.emplace_back(us, number);
  }
  constexpr std::size_t kFewest = 5;
  if (slow.empty() || longest.size() < kFewest) return;
  std::sort(slow.begin(), slow.end(), std::greater<>());
  verdict.push_back({Level::kNotice, counted(slow.size(), "step") + " of " + std::to_string(longest.size()) +
                                         " took more than twice the median of " + time_words(middle) +
                                         "; the longest is step " + std::to_string(slow[0].second) + " with " +
                                         time_words(slow[0].first) + "."});
}

}  // namespace

ReportSection steps_section(const View& steps, const View& windows) {
  ReportSection section{.key = "steps", .title = "Steps"};
  std::vector<StepTimes> times = times_of(steps);
  const bool whole_windows = times.empty();
  if (whole_windows) {
    times = times_of(windows);
    section.title = "Time of each rank";
    section.notes.emplace_back("These traces have no steps (ProfilerStep#N). Shares are of the whole recorded time.");
  } else {
    section.plots.push_back(Lines(times).plot(section.notes));
  }
  if (times.empty()) return section;
  const std::map<int, RankMeans> means = means_of(times);
  section.plots.push_back(split_plot(means, whole_windows, section.notes));
  section.tables.push_back(split_table(means, whole_windows));
  if (whole_windows) return section;
  ViewTable slowest = table_of(steps, "slowest");
  if (!slowest.rows.empty()) sort_descending(slowest, "duration_us");
  for (auto& row : slowest.rows) {
    const bool ranks_are_equal = row[column_index(slowest, "duration_us")] == row[column_index(slowest, "fastest_us")];
    if (ranks_are_equal) row[column_index(slowest, "slowest_rank")] = std::monostate{};
  }
  slowest.title = "Longest steps, and their slowest rank";
  keep_rows(slowest, 10, "the longest; profshim summary --steps --row-limit -1 shows all", section.notes);
  if (!slowest.rows.empty()) section.tables.push_back(std::move(slowest));
  ViewTable gaps = table_of(steps, "gaps");
  if (!gaps.rows.empty()) sort_descending(gaps, "duration_us");
  gaps.title = "Longest gaps without activity (above 1 ms)";
  keep_rows(gaps, 10, "the longest; profshim summary --steps --row-limit -1 shows all", section.notes);
  if (!gaps.rows.empty()) section.tables.push_back(std::move(gaps));
  return section;
}

void judge_steps(const View& steps, const View& windows, std::vector<ReportFinding>& verdict) {
  using Level = ReportFinding::Level;
  std::vector<StepTimes> times = times_of(steps);
  const bool whole_windows = times.empty();
  if (whole_windows) times = times_of(windows);
  StepTimes device, host;
  for (const StepTimes& step : times) {
    StepTimes& sum = step.on_device ? device : host;
    sum.all_us += step.all_us;
    sum.busy_us += step.busy_us;
    sum.communication_us += step.communication_us;
    sum.exposed_us += step.exposed_us;
  }
  if (!whole_windows) judge_durations(times, verdict);
  const std::string of = whole_windows ? "the recorded time" : "a step";
  if (device.all_us > 0) {
    constexpr double kHalf = 0.5, kTenth = 0.1;
    verdict.push_back({device.busy_us < kHalf * device.all_us ? Level::kNotice : Level::kPlain,
                       "Devices are busy for " + percent(device.busy_us, device.all_us) + " of " + of + "."});
    if (device.communication_us > 0) {
      verdict.push_back({device.exposed_us > kTenth * device.all_us ? Level::kNotice : Level::kPlain,
                         "Communication takes " + percent(device.communication_us, device.all_us) + " of " + of + "; " +
                             percent(device.exposed_us, device.all_us) +
                             " is exposed: no other kernel ran at the same time."});
    }
  }
  if (host.all_us > 0) {
    constexpr double kThird = 1.0 / 3;
    verdict.push_back({host.communication_us > kThird * host.all_us ? Level::kNotice : Level::kPlain,
                       percent(host.communication_us, host.all_us) + " of " + of +
                           " is spent in calls that communicate, waiting included."});
  }
}

}  // namespace profshim::analysis_detail
