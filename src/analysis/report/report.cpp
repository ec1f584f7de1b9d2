#include "profshim/analysis/report.h"

#include <algorithm>
#include <ctime>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

#include "analysis/model/one_job.h"
#include "analysis/model/statistics.h"
#include "analysis/summary/comms/comms_view.h"
#include "analysis/summary/kernels_view.h"
#include "analysis/summary/mpi_view.h"
#include "analysis/summary/phases_view.h"
#include "analysis/summary/steps_view.h"
#include "analysis/summary/table/key_averages.h"
#include "analysis/summary/view_tables.h"
#include "profshim/trace/schema.h"
#include "sections.h"
#include "stragglers.h"
#include "tables.h"
#include "traces.h"
#include "words.h"

namespace profshim {
namespace analysis_detail {
namespace {

using Level = ReportFinding::Level;

constexpr std::size_t kTop = 15;
constexpr double kGap_us = 1000;

class AllViews {
 public:
  AllViews()
      : steps(kGap_us),
        windows(std::numeric_limits<double>::infinity()),
        comms([this](const CommsView::Instance& instance) { waits.add(instance); }),
        averages(false) {}

  void add(LoadedTrace loaded) {
    Timeline& timeline = loaded.timeline;
    job_.add(timeline);
    traces.push_back(std::move(loaded.description));
    if (timeline.slices.empty()) return;
    const int rank = timeline.rank;
    kernels.add(timeline, rank);
    steps.add(timeline, rank);
    comms.add(timeline, rank);
    mpi.add(timeline, rank);
    phases.add(timeline, rank);
    averages.add(timeline, rank);
    make_one_step(timeline);
    windows.add(timeline, rank);
  }

  std::vector<TraceDescription> traces;
  Waits waits;
  KernelsView kernels;
  StepsView steps, windows;
  CommsView comms;
  MpiView mpi;
  PhasesView phases;
  KeyAverages averages;

 private:
  OneJob job_;
};

/// Returns "" if `ns` is no wall-clock time.
std::string date_words(std::int64_t ns) {
  constexpr std::int64_t kIn2001 = 1'000'000'000'000'000'000;
  if (ns < kIn2001) return "";
  const std::time_t seconds = ns / 1'000'000'000;
  std::tm parts{};
  char text[64];
  if (gmtime_r(&seconds, &parts) == nullptr) return "";
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

std::string step_words(const std::vector<TraceDescription>& traces) {
  std::set<std::int64_t> steps;
  std::set<std::string> sources;
  for (const TraceDescription& t : traces) {
    steps.insert(t.steps.begin(), t.steps.end());
    sources.insert(t.steps_source);
  }
  if (steps.empty()) return "none";
  std::string text = std::to_string(*steps.begin());
  if (steps.size() > 1) text += " to " + std::to_string(*steps.rbegin());
  if (steps.size() > 2) text += " (" + std::to_string(steps.size()) + ")";
  const std::string source = joined(sources, 1);
  return source.empty() ? text : text + ", from " + source;
}

void add_overview(const std::vector<TraceDescription>& traces, Report& report) {
  std::set<std::string> runs, commands, hosts, files;
  std::set<int> ranks;
  int world_size = -1;
  std::uint64_t events = 0;
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = std::numeric_limits<std::int64_t>::min();
  bool ours = false, others = false;
  for (const TraceDescription& t : traces) {
    runs.insert(t.run_name);
    commands.insert(t.command);
    hosts.insert(t.host);
    files.insert(t.path);
    ranks.insert(t.rank);
    world_size = std::max(world_size, t.world_size);
    events += t.events;
    if (t.events > 0) {
      first = std::min(first, t.first_ns);
      last = std::max(last, t.last_ns);
    }
    (t.ours ? ours : others) = true;
  }
  const std::string run = joined(runs, 2);
  report.title = !run.empty() ? run : files.begin()->substr(files.begin()->rfind('/') + 1);
  if (run.empty() && files.size() > 1) report.title += " and " + counted(files.size() - 1, "other");
  const auto add = [&](const char* what, std::string text) {
    if (!text.empty()) report.overview.emplace_back(what, std::move(text));
  };
  add("Command", joined(commands, 1));
  std::string rank_text = ranks.count(-1) != 0 && ranks.size() == 1 ? "one, with unknown number" : rank_list(ranks);
  if (world_size > 0) rank_text += ", of " + std::to_string(world_size);
  add("Ranks", rank_text);
  add("Hosts", joined(hosts, 4));
  add("Recorded", first < last ? date_words(first) + (date_words(first).empty() ? "" : ", ") +
                                     time_words(to_us(difference(last, first)))
                               : "");
  add("Steps", step_words(traces));
  add("Events", std::to_string(events) + " in " + counted(files.size(), "file"));
  add("Recorded by", ours && others ? "profshim and PyTorch's profiler"
                     : ours         ? "profshim"
                                    : "PyTorch's profiler (Kineto)");
}

ViewTable operators_of(const KeyTable& keys) {
  struct Sum {
    std::int64_t calls = 0;
    double self_us = 0, total_us = 0, device_us = 0;
  };
  std::map<std::string, Sum> sums;
  double all_us = 0;
  for (const KeyRow& row : keys.rows) {
    const bool is_call = !row.on_device && !row.annotation && !row.asynchronous && row.name != "ProfilerStep*";
    if (!is_call || row.name.starts_with(schema::name::kMpiStart) || row.name == schema::name::kMpiPolling) continue;
    Sum& sum = sums[row.name];
    sum.calls += static_cast<std::int64_t>(row.calls);
    sum.self_us += row.self_cpu_us;
    sum.total_us += row.cpu_total_us;
    sum.device_us += row.device_total_us;
    all_us += row.self_cpu_us;
  }
  ViewTable table{.key = "operators",
                  .title = "Operators and calls, by their own time on the CPU",
                  .columns = {{"name", "Name"},
                              {"calls", "Calls"},
                              {"self_us", "Own time", Unit::kTime},
                              {"total_us", "Total", Unit::kTime},
                              {"device_us", "Device time", Unit::kTime},
                              {"share_percent", "Share", Unit::kPercent}}};
  bool any_device = false;
  for (const auto& [name, s] : sums) {
    Cell device;
    if (s.device_us > 0) device = s.device_us;
    any_device = any_device || s.device_us > 0;
    table.rows.push_back({name, s.calls, s.self_us, s.total_us, device, all_us > 0 ? 100 * s.self_us / all_us : 0});
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const auto& a, const auto& b) { return number_of(a[2]) > number_of(b[2]); });
  return any_device ? table : with_columns(table, {"name", "calls", "self_us", "total_us", "share_percent"});
}

void add_top(ReportSection& section, ViewTable table) {
  if (table.rows.empty()) return;
  keep_rows(table, kTop, "those that took longest; profshim summary --row-limit -1 shows all", section.notes);
  section.tables.push_back(std::move(table));
}

ReportSection top_section(const View& kernels, const KeyTable& keys, const View& mpi, std::size_t ranks) {
  ReportSection section{.key = "top", .title = "Time by name"};
  if (ranks > 1) section.notes.push_back("Sums over all " + counted(ranks, "rank") + ".");
  add_top(section, with_columns(of_all_ranks(table_of(kernels, "kernels")),
                                {"name", "kind", "count", "total_us", "mean_us", "p95_us", "max_us", "share_percent"}));
  add_top(section, operators_of(keys));
  add_top(section, with_columns(of_all_ranks(table_of(mpi, "mpi")),
                                {"function", "calls", "total_us", "mean_us", "max_us", "bytes", "share_percent"}));
  if (section.tables.empty()) section.notes.emplace_back("These traces have no operators, kernels or calls.");
  return section;
}

void judge_top(const View& kernels, const View& mpi, std::vector<ReportFinding>& verdict) {
  const ViewTable work = with_columns(of_all_ranks(table_of(kernels, "kernels")), {"name", "share_percent"});
  if (!work.rows.empty()) {
    verdict.push_back({Level::kPlain, "Most device time: " + std::get<std::string>(work.rows[0][0]) + ", " +
                                          percent(number_of(work.rows[0][1]), 100) + " of the device time."});
  }
  const ViewTable calls = with_columns(of_all_ranks(table_of(mpi, "mpi")), {"function", "share_percent"});
  if (!calls.rows.empty()) {
    verdict.push_back({Level::kPlain, "Most time in MPI: " + std::get<std::string>(calls.rows[0][0]) + ", " +
                                          percent(number_of(calls.rows[0][1]), 100) + " of the recorded time."});
  }
}

ReportSection communication_section(const View& comms, Waits& waits, std::size_t ranks) {
  ReportSection section{.key = "communication", .title = "Communication and stragglers"};
  const ViewTable& calls = table_of(comms, "comms");
  if (calls.rows.empty()) {
    section.notes.emplace_back("These traces have no collectives.");
    return section;
  }
  waits.fill(section);
  if (section.plots.empty()) {
    section.notes.emplace_back(ranks > 1 ? "The traces do not show who waited for whom: no collective is complete on "
                                           "several ranks."
                                         : "Traces of one rank cannot show who waited for whom.");
  }
  const bool unfinished =
      std::any_of(calls.rows.begin(), calls.rows.end(),
                  [at = column_index(calls, "unfinished")](const auto& row) { return number_of(row[at]) > 0; });
  ViewTable table =
      with_columns(calls, {"group", "function", "where", "group_size", "count", unfinished ? "unfinished" : "",
                           "mean_bytes", "max_bytes", "total_us", "mean_us", "algorithm_gb_per_s", "bus_gb_per_s"});
  keep_rows(table, kTop, "those that took longest; profshim summary --comms --row-limit -1 shows all", section.notes);
  section.tables.push_back(std::move(table));
  constexpr std::size_t kMostNotes = 10;
  for (std::size_t i = 0; i < comms.notes.size() && i < kMostNotes; ++i) section.notes.push_back(comms.notes[i] + ".");
  if (comms.notes.size() > kMostNotes) {
    section.notes.push_back("And " + std::to_string(comms.notes.size() - kMostNotes) + " more such notes.");
  }
  return section;
}

void judge_missing(const View& comms, std::vector<ReportFinding>& verdict) {
  const ViewTable never = with_columns(table_of(comms, "never_entered"), {"rank", "function", "sequence", "group"});
  constexpr std::size_t kMost = 5;
  for (std::size_t i = 0; i < never.rows.size() && i < kMost; ++i) {
    const auto& row = never.rows[i];
    verdict.push_back(
        {Level::kBad, "Rank " + std::to_string(std::get<std::int64_t>(row[0])) + " never entered " +
                          std::get<std::string>(row[1]) + " #" + std::to_string(std::get<std::int64_t>(row[2])) +
                          " on " + std::get<std::string>(row[3]) + ", where other ranks were waiting at the end."});
  }
  if (never.rows.size() > kMost) {
    verdict.push_back({Level::kBad, "And " + std::to_string(never.rows.size() - kMost) +
                                        " more collectives were never entered by a rank."});
  }
}

void clear_unknown_ranks(Report& report) {
  for (ReportSection& section : report.sections) {
    for (ViewTable& table : section.tables) {
      for (std::size_t column = 0; column < table.columns.size(); ++column) {
        const std::string& key = table.columns[column].key;
        if (key != "rank" && key != "slowest_rank") continue;
        for (auto& row : table.rows) {
          if (row[column] == Cell(std::int64_t{-1})) row[column] = std::monostate{};
        }
      }
    }
  }
}

double mean_window_us(const std::vector<TraceDescription>& traces) {
  std::set<int> ranks;
  double sum = 0;
  for (const TraceDescription& t : traces) {
    ranks.insert(t.rank);
    sum += to_us(difference(t.last_ns, t.first_ns));
  }
  return ranks.empty() ? 0 : sum / static_cast<double>(ranks.size());
}

}  // namespace
}  // namespace analysis_detail

Report make_report(const std::vector<std::string>& paths) {
  using namespace analysis_detail;
  Report report;
  AllViews all;
  std::vector<RankClock> clocks;
  for (const std::string& path : paths) {
    for (LoadedTrace& loaded : load_ranks(path, clocks, report.warnings, report.truncated)) all.add(std::move(loaded));
  }
  if (const std::string twice = twice_there(all.traces); !twice.empty()) throw std::runtime_error(twice);
  std::set<int> ranks;
  for (const TraceDescription& t : all.traces) ranks.insert(t.rank);
  std::string no_clocks;
  if (clocks.empty() && ranks.size() > 1) clocks = compare_clocks(all.traces, report.warnings, no_clocks);

  const View steps = all.steps.finish(), windows = all.windows.finish(), kernels = all.kernels.finish(),
             comms = all.comms.finish(), mpi = all.mpi.finish(), phases = all.phases.finish();
  const KeyTable keys = all.averages.finish();
  add_overview(all.traces, report);
  judge_missing(comms, report.verdict);
  all.waits.judge(mean_window_us(all.traces), report.verdict);
  judge_steps(steps, windows, report.verdict);
  judge_phases(phases, report.verdict);
  judge_top(kernels, mpi, report.verdict);
  judge_machine(all.traces, report.verdict);
  add_clocks(clocks, report.verdict);
  add_losses(all.traces, report.verdict);
  const auto weight = [](const ReportFinding& f) {
    return f.level == Level::kBad ? 0 : f.level == Level::kNotice ? 1 : 2;
  };
  std::stable_sort(report.verdict.begin(), report.verdict.end(),
                   [&](const ReportFinding& a, const ReportFinding& b) { return weight(a) < weight(b); });

  report.sections.push_back(steps_section(steps, windows));
  if (ReportSection section = phases_section(phases); !section.tables.empty())
    report.sections.push_back(std::move(section));
  report.sections.push_back(communication_section(comms, all.waits, ranks.size()));
  report.sections.push_back(top_section(kernels, keys, mpi, ranks.size()));
  report.sections.push_back(clocks_section(clocks, no_clocks));
  report.sections.push_back(losses_section(all.traces));
  if (ViewTable cpus = cpu_table(all.traces); !cpus.rows.empty())
    report.sections.back().tables.push_back(std::move(cpus));
  clear_unknown_ranks(report);
  return report;
}

}  // namespace profshim
