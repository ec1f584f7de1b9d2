// A report of several groups of processes: a table of the groups, then the report of each.
#include <set>

#include "profshim/analysis/report.h"
#include "words.h"

namespace profshim {
namespace {

using namespace analysis_detail;

std::string text_of(const Report& report, const std::string& what) {
  for (const auto& [key, text] : report.overview) {
    if (key == what) return text;
  }
  return "";
}

/// Keys are ids of the page.
void make_keys_unique(Report& report, const std::string& start) {
  for (ReportSection& section : report.sections) {
    section.key = start + section.key;
    for (ReportPlot& plot : section.plots) plot.key = start + plot.key;
    for (ReportHeatMap& map : section.heat_maps) map.key = start + map.key;
  }
}

ReportSection groups_section(const std::vector<TraceGroup>& groups, const std::vector<Report>& reports) {
  ReportSection section{.key = "groups", .title = "Groups of processes"};
  section.notes.emplace_back(
      "Each group has ranks of its own, which are not compared with those of other groups, nor added to them.");
  ViewTable table{.key = "groups",
                  .title = "Groups",
                  .columns = {{"group", "Group"},
                              {"role", "Role"},
                              {"ranks", "Ranks"},
                              {"world_size", "World size"},
                              {"folder", "Folder"},
                              {"traces", "Traces"},
                              {"recorded", "Recorded"},
                              {"steps", "Steps"}}};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const TraceGroup& group = groups[i];
    Cell world_size;
    if (group.world_size > 0) world_size = std::int64_t{group.world_size};
    table.rows.push_back({static_cast<std::int64_t>(i), group.role.empty() ? Cell() : Cell(group.role),
                          rank_list(group.ranks), world_size, group.folder.substr(group.folder.rfind('/') + 1),
                          static_cast<std::int64_t>(group.paths.size()), text_of(reports[i], "Recorded"),
                          text_of(reports[i], "Steps")});
  }
  section.tables.push_back(std::move(table));
  return section;
}

}  // namespace

Report make_report(const std::vector<TraceGroup>& groups, const std::vector<std::string>& titles) {
  if (groups.size() == 1) return make_report(groups.front().paths);
  Report whole;
  std::set<std::string> names, hosts;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Report& report = whole.groups.emplace_back(make_report(groups[i].paths));
    names.insert(groups[i].run_name);
    hosts.insert(text_of(report, "Hosts"));
    make_keys_unique(report, "group-" + std::to_string(i) + "-");
    report.title = titles[i];
    whole.warnings.insert(whole.warnings.end(), report.warnings.begin(), report.warnings.end());
    report.warnings.clear();
    whole.truncated = whole.truncated || report.truncated;
  }
  const std::string first = joined(names, 1);
  whole.title = first.empty() ? counted(groups.size(), "group") + " of processes" : first;
  whole.overview = {{"Groups", std::to_string(groups.size())}, {"Hosts", joined(hosts, 4)}};
  whole.sections.push_back(groups_section(groups, whole.groups));
  return whole;
}

}  // namespace profshim
