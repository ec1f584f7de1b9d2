#include "analysis/merge/clocks.h"

#include <algorithm>
#include <map>

#include "analysis/merge/rank_trace.h"
#include "sections.h"
#include "tables.h"
#include "words.h"

namespace profshim::analysis_detail {
namespace {

/// Treats the n-th file of each rank as the n-th window.
std::vector<std::vector<const TraceDescription*>> windows_of(const std::vector<TraceDescription>& traces) {
  std::map<int, std::vector<const TraceDescription*>> by_rank;
  for (const TraceDescription& t : traces) by_rank[t.rank].push_back(&t);
  std::vector<std::vector<const TraceDescription*>> windows;
  for (auto& [rank, files] : by_rank) {
    std::stable_sort(files.begin(), files.end(),
                     [](const TraceDescription* a, const TraceDescription* b) { return a->first_ns < b->first_ns; });
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (windows.size() <= i) windows.emplace_back();
      windows[i].push_back(files[i]);
    }
  }
  return windows;
}

bool is_worse(const RankClock& a, const RankClock& b) {
  return (a.error_us < 0) != (b.error_us < 0) ? a.error_us < 0 : a.error_us > b.error_us;
}

}  // namespace

std::vector<RankClock> compare_clocks(const std::vector<TraceDescription>& traces, std::vector<std::string>& warnings,
                                      std::string& why_not) {
  std::map<int, RankClock> worst;
  for (const auto& window : windows_of(traces)) {
    if (window.size() < 2) continue;
    std::vector<std::string> paths;
    for (const TraceDescription* const trace : window) paths.push_back(trace->path);
    std::vector<RankTrace> scanned = scan_rank_traces(paths);
    std::vector<MergedRank> ranks(scanned.size());
    for (std::size_t i = 0; i < scanned.size(); ++i) {
      if (!scanned[i].error.empty()) {
        why_not = scanned[i].path + ": " + scanned[i].error;
        return {};
      }
      ranks[i].rank = scanned[i].metadata.rank;
      ranks[i].host = scanned[i].metadata.host;
    }
    std::vector<ClockMap> maps;
    if (!align_clocks(scanned, MergeOptions{}, ranks, maps, warnings, why_not)) return {};
    for (const MergedRank& rank : ranks) {
      const RankClock clock{.rank = rank.rank,
                            .host = rank.host,
                            .clock = rank.clock,
                            .offset_us = rank.offset_us,
                            .drift_ppm = rank.drift_ppm,
                            .error_us = rank.error_us};
      const auto [at, is_new] = worst.emplace(clock.rank, clock);
      if (!is_new && is_worse(clock, at->second)) at->second = clock;
    }
  }
  std::vector<RankClock> clocks;
  for (auto& [rank, clock] : worst) clocks.push_back(std::move(clock));
  return clocks;
}

ReportSection clocks_section(const std::vector<RankClock>& clocks, const std::string& why_not) {
  ReportSection section{.key = "clocks", .title = "Clocks"};
  if (!why_not.empty()) {
    section.notes.push_back("The clocks of these traces cannot be compared: " + why_not);
    return section;
  }
  if (clocks.size() < 2) {
    section.notes.emplace_back("The traces have one rank, so there is no clock to compare with.");
    return section;
  }
  section.notes.emplace_back(
      "Clocks are compared through events that ranks share: no message is received before it is sent. The maximum "
      "error is that of the offset from the first rank's clock. Waiting times on this page are differences of "
      "durations, so they do not "
      "depend on the clocks of other ranks.");
  ViewTable table{.key = "clocks",
                  .title = "Clock of each rank",
                  .columns = {{"rank", "Rank"},
                              {"host", "Host"},
                              {"clock", "Determined by"},
                              {"offset_us", "Offset", Unit::kTime},
                              {"drift_ppm", "Drift (ppm)"},
                              {"error_us", "Maximum error", Unit::kTime}}};
  constexpr std::size_t kMostClocks = 256;
  std::vector<RankClock> order = clocks;
  if (order.size() > kMostClocks) std::stable_sort(order.begin(), order.end(), is_worse);
  for (const RankClock& c : order) {
    Cell error;
    if (c.error_us >= 0) error = c.error_us;
    table.rows.push_back({rank_cell(c.rank), c.host, c.clock, c.offset_us, c.drift_ppm, error});
  }
  keep_rows(table, kMostClocks, "the largest errors", section.notes);
  section.tables.push_back(std::move(table));
  return section;
}

void add_clocks(const std::vector<RankClock>& clocks, std::vector<ReportFinding>& verdict) {
  using Level = ReportFinding::Level;
  if (clocks.size() < 2) return;
  std::set<int> unknown;
  const RankClock* worst = nullptr;
  for (const RankClock& c : clocks) {
    if (c.error_us < 0) unknown.insert(c.rank);
    if (worst == nullptr || c.error_us > worst->error_us) worst = &c;
  }
  if (!unknown.empty()) {
    verdict.push_back({Level::kNotice, "The error of the clock of " + ranks_words(unknown) +
                                           " is unknown: too few events are shared with other ranks."});
  } else {
    const bool one_host = std::all_of(clocks.begin(), clocks.end(), [](const RankClock& c) {
      return c.clock == "reference" || c.clock == "same host";
    });
    const std::string bound = time_words(worst->error_us) + " (rank " + rank_name(worst->rank) + ")";
    verdict.push_back(
        {Level::kPlain, one_host ? "All ranks share one host clock. Shared events agree to within " + bound + "."
                                 : "Clocks of different ranks agree to within " + bound + "."});
  }
}

}  // namespace profshim::analysis_detail
