#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "analysis/model/statistics.h"
#include "analysis/summary/view_tables.h"
#include "sections.h"
#include "tables.h"
#include "words.h"

namespace profshim::analysis_detail {
namespace {

constexpr std::size_t kMostBars = 24, kMostSeries = 8, kMostRows = 256;
constexpr double kMuch = 1.1, kSmallPercent = 5;

struct OfRank {
  std::int64_t occurrences = 0;
  double total_us = 0, mean_us = 0, device_us = 0;
  std::optional<double> share_percent;
};
struct Phase {
  std::string name;
  std::map<int, OfRank> ranks;

  double sum(double OfRank::*value) const {
    double sum = 0;
    for (const auto& [rank, of] : ranks) sum += of.*value;
    return sum;
  }
  /// Compares the mean occurrence. Returns end() if there is one rank only, or if no rank differs.
  auto slowest() const {
    const auto less = [](const auto& a, const auto& b) { return a.second.mean_us < b.second.mean_us; };
    const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end(), less);
    return least == most || least->second.mean_us == most->second.mean_us ? ranks.end() : most;
  }
  double median_us() const {
    std::vector<double> means;
    for (const auto& [rank, of] : ranks) means.push_back(of.mean_us);
    return median(means);
  }
  /// The mean of the ranks; no value without steps.
  std::optional<double> share_percent() const {
    double sum = 0;
    for (const auto& [rank, of] : ranks) {
      if (!of.share_percent) return std::nullopt;
      sum += *of.share_percent;
    }
    return sum / static_cast<double>(ranks.size());
  }
};

/// Longest first.
std::vector<Phase> phases_of(const View& view) {
  const ViewTable rows = with_columns(
      table_of(view, "phases"), {"rank", "phase", "occurrences", "total_us", "mean_us", "device_us", "share_percent"});
  std::vector<Phase> phases;
  for (const auto& row : rows.rows) {
    const auto* const rank = std::get_if<std::int64_t>(&row[0]);
    if (rank == nullptr) continue;  // of all ranks
    const auto& name = std::get<std::string>(row[1]);
    auto at = std::find_if(phases.begin(), phases.end(), [&](const Phase& phase) { return phase.name == name; });
    if (at == phases.end()) at = phases.insert(phases.end(), {.name = name, .ranks = {}});
    OfRank& of = at->ranks[static_cast<int>(*rank)];
    of = {std::get<std::int64_t>(row[2]), number_of(row[3]), number_of(row[4]), number_of(row[5]), {}};
    if (std::holds_alternative<double>(row[6])) of.share_percent = std::get<double>(row[6]);
  }
  std::stable_sort(phases.begin(), phases.end(),
                   [](const Phase& a, const Phase& b) { return a.sum(&OfRank::total_us) > b.sum(&OfRank::total_us); });
  return phases;
}

ReportPlot plot_of(const std::vector<Phase>& phases, std::vector<std::string>& notes) {
  ReportPlot plot{.key = "phase-times",
                  .kind = ReportPlot::Kind::kBars,
                  .title = "Time in each phase, by rank",
                  .label_axis = "Rank",
                  .value_axis = "Time"};
  std::set<int> ranks;
  for (const Phase& phase : phases) {
    for (const auto& [rank, of] : phase.ranks) ranks.insert(rank);
  }
  if (ranks.size() > kMostBars) {
    notes.push_back("The plot shows " + std::to_string(kMostBars) + " of " + counted(ranks.size(), "rank") + ".");
    ranks.erase(std::next(ranks.begin(), kMostBars), ranks.end());
  }
  for (const int rank : ranks) plot.labels.push_back(rank_name(rank));
  for (const Phase& phase : phases) {
    if (plot.series.size() == kMostSeries) break;
    ReportPlot::Series series{.label = phase.name};
    for (const int rank : ranks) {
      const auto at = phase.ranks.find(rank);
      series.values.push_back(at != phase.ranks.end() ? at->second.total_us : std::numeric_limits<double>::quiet_NaN());
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

ViewTable table_of_phases(const std::vector<Phase>& phases) {
  ViewTable table{.key = "phases",
                  .title = "Phases",
                  .columns = {{"phase", "Phase"},
                              {"occurrences", "Occurrences"},
                              {"total_us", "Time", Unit::kTime},
                              {"share_percent", "Share of steps", Unit::kPercent},
                              {"median_us", "Occurrence, median of ranks", Unit::kTime},
                              {"slowest_rank", "Slowest rank"},
                              {"slowest_us", "Occurrence there", Unit::kTime},
                              {"device_us", "Device time", Unit::kTime}}};
  for (const Phase& phase : phases) {
    std::int64_t occurrences = 0;
    for (const auto& [rank, of] : phase.ranks) occurrences += of.occurrences;
    Cell share, slowest, slowest_us;
    if (const auto percent = phase.share_percent()) share = *percent;
    if (const auto at = phase.slowest(); at != phase.ranks.end()) {
      slowest = std::int64_t{at->first};
      slowest_us = at->second.mean_us;
    }
    table.rows.push_back({phase.name, occurrences, phase.sum(&OfRank::total_us), share, phase.median_us(), slowest,
                          slowest_us, phase.sum(&OfRank::device_us)});
  }
  return table;
}

}  // namespace

ReportSection phases_section(const View& view) {
  ReportSection section{.key = "phases", .title = "Phases"};
  const std::vector<Phase> phases = phases_of(view);
  if (phases.empty()) return section;
  section.notes.emplace_back(
      "The spec names the phases ([[phase]]). A phase includes the phases inside it. The slowest rank has the longest "
      "mean "
      "occurrence.");
  section.plots.push_back(plot_of(phases, section.notes));
  section.tables.push_back(table_of_phases(phases));
  ViewTable ranks = table_of(view, "phases");
  std::erase_if(ranks.rows, [](const auto& row) { return !std::holds_alternative<std::int64_t>(row[0]); });
  ranks.key = "phases-of-ranks";
  ranks.title = "Phases of each rank";
  keep_rows(ranks, kMostRows, "the first ranks; profshim summary --phases --row-limit -1 shows all", section.notes);
  section.tables.push_back(std::move(ranks));
  return section;
}

void judge_phases(const View& view, std::vector<ReportFinding>& verdict) {
  constexpr std::size_t kMost = 3;
  std::vector<Phase> phases = phases_of(view);
  if (phases.size() > kMost) phases.resize(kMost);
  for (const Phase& phase : phases) {
    std::string text = "Phase " + phase.name;
    if (const auto share = phase.share_percent()) text += " takes " + percent(*share, 100) + " of the step time";
    if (!phase.share_percent()) text += " takes " + time_words(phase.median_us()) + " (mean of its occurrences)";
    const auto slowest = phase.slowest();
    const bool is_slow = slowest != phase.ranks.end() && slowest->second.mean_us > kMuch * phase.median_us();
    if (is_slow) {
      text += "; rank " + rank_name(slowest->first) + " is slowest, with " + time_words(slowest->second.mean_us) +
              " for an occurrence against " + time_words(phase.median_us()) + " (median of the ranks)";
    }
    const bool matters = is_slow && phase.share_percent().value_or(100) >= kSmallPercent;
    verdict.push_back({matters ? ReportFinding::Level::kNotice : ReportFinding::Level::kPlain, text + "."});
  }
}

}  // namespace profshim::analysis_detail
