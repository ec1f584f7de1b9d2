#include <map>
#include <set>
#include <string>

#include "analysis/model/machine_load.h"
#include "profshim/base/text/number_text.h"
#include "sections.h"
#include "words.h"

namespace profshim::analysis_detail {
namespace {

constexpr double kNoticedShare = 0.1;

struct RankLoad {
  std::string host;
  double measured_us = 0, waited_us = 0, process_us = 0;
  double waited() const { return waited_us / measured_us; }
};

std::map<int, RankLoad> by_rank(const std::vector<TraceDescription>& traces) {
  std::map<int, RankLoad> ranks;
  for (const TraceDescription& t : traces) {
    if (!t.load) continue;
    RankLoad& rank = ranks[t.rank];
    rank.host = t.host;
    rank.measured_us += t.load->measured_us;
    rank.waited_us += t.load->waited_us;
    rank.process_us += t.load->process_us;
  }
  return ranks;
}

}  // namespace

ViewTable cpu_table(const std::vector<TraceDescription>& traces) {
  ViewTable table{.key = "cpus",
                  .title = "CPUs during the recording",
                  .columns = {{"rank", "Rank"},
                              {"host", "Host"},
                              {"waited_us", "Threads waited for a CPU", Unit::kTime},
                              {"waited_percent", "Share of the time", Unit::kPercent},
                              {"cpu_us", "CPU time", Unit::kTime},
                              {"cpu_percent", "Share of one CPU", Unit::kPercent}}};
  for (const auto& [number, rank] : by_rank(traces)) {
    table.rows.push_back({rank_cell(number), rank.host, rank.waited_us, 100 * rank.waited(), rank.process_us,
                          100 * rank.process_us / rank.measured_us});
  }
  return table;
}

void judge_machine(const std::vector<TraceDescription>& traces, std::vector<ReportFinding>& verdict) {
  std::set<int> waited, all;
  const std::map<int, RankLoad> ranks = by_rank(traces);
  auto most = ranks.end();
  for (auto at = ranks.begin(); at != ranks.end(); ++at) {
    all.insert(at->first);
    if (at->second.waited() < kNoticedShare) continue;
    waited.insert(at->first);
    if (most == ranks.end() || at->second.waited() > most->second.waited()) most = at;
  }
  if (waited.empty()) return;
  std::vector<WindowLoad> loads;
  for (const TraceDescription& t : traces) {
    if (t.load) loads.push_back(*t.load);
  }
  std::string words = "Threads of " + ranks_words(waited) + " waited for a CPU";
  words += (waited.size() > 1 ? ", those of " + ranks_words({most->first}) + " longest, " : ", ");
  words += "together " + fixed_text(most->second.waited(), 2) + " s per second";
  if (const auto load = machine_load(loads, all.size())) {
    words += ": the ranks used " + fixed_text(load->own, 1) + " of " + fixed_text(load->cpus, 0) +
             " CPUs, other processes " + fixed_text(load->others, 1);
  }
  words += ".";
  verdict.push_back({ReportFinding::Level::kNotice, words});
}

}  // namespace profshim::analysis_detail
