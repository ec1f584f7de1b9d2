#include "profshim/analysis/summary.h"

#include <algorithm>
#include <cstdio>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/spec/spec_options.h"
#include "profshim/analysis.h"
#include "profshim/analysis/views.h"
#include "profshim/base/text/message_text.h"
#include "profshim/json/writer.h"
#include "profshim/spec/table_orders.h"
#include "trace_files.h"

namespace profshim::cli {
namespace {

constexpr std::int64_t kRowLimit = 20;

struct Options {
  std::vector<std::string> paths;
  int attempt = -1;
  TableStyle style;
  ViewChoice views;
  KeyChoice keys;
  std::string group_by;
  bool table = false, json = false, csv = false;
  bool any_view() const { return views.kernels || views.steps || views.comms || views.mpi || views.phases; }
};

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) std::fprintf(stderr, "profshim: %s\n", printable(warning).c_str());
}

/// Returns the sum, with the least and the most of one rank or node.
std::string over_nodes(const KeyTable& table, double DeviceUse::*value, const std::string& unit) {
  const std::vector<DeviceUse>& devices = table.devices;
  const char* const where = table.nodes.empty() ? " on rank " : " on node ";
  double sum = 0;
  for (const DeviceUse& use : devices) sum += use.*value;
  const std::string text = format_time(sum, unit);
  if (devices.size() < 2) return text;
  const auto [least, most] = std::minmax_element(
      devices.begin(), devices.end(), [=](const DeviceUse& a, const DeviceUse& b) { return a.*value < b.*value; });
  const auto one = [&](const DeviceUse& use) {
    return format_time(use.*value, unit) + where + std::to_string(use.node_id);
  };
  return text + " (" + one(*least) + " to " + one(*most) + ")";
}

std::string drops_text(const KeyTable& table) {
  if (table.drops_known || table.dropped_events > 0) return std::to_string(table.dropped_events);
  return "not counted by the recorder";
}

void print_table(const KeyTable& table, const TableStyle& style, std::size_t files) {
  std::fputs(table_text(table, style).c_str(), stdout);
  for (const KeyNode& node : table.nodes) {
    std::printf("Node %d: %s, %s\n", node.id, printable(node.host).c_str(), ranks_text(node.ranks).c_str());
  }
  const std::string& unit = style.time_unit;
  const bool any = std::any_of(table.devices.begin(), table.devices.end(), [](const DeviceUse& u) { return u.any; });
  const bool collectives = std::any_of(table.devices.begin(), table.devices.end(),
                                       [](const DeviceUse& u) { return u.communication_us > 0; });
  const std::string busy = any ? over_nodes(table, &DeviceUse::busy_us, unit) : "no device activity";
  const std::string exposed = collectives ? over_nodes(table, &DeviceUse::exposed_us, unit) : "no collective kernels";
  std::printf("Device busy (union): %s\n", busy.c_str());
  std::printf("Exposed communication: %s\n", exposed.c_str());
  std::printf("Dropped events: %s\n", drops_text(table).c_str());
  if (table.incomplete_files > 0) {
    std::printf("Incomplete: %llu of %zu traces: %s\n", static_cast<unsigned long long>(table.incomplete_files), files,
                printable(table.first_missing).c_str());
  }
  TableStyle whole = style;
  whole.row_limit = -1;
  const std::size_t shown = table_rows(table, style).size(), all = table_rows(table, whole).size();
  if (shown < all) std::printf("Rows: %zu of %zu; --row-limit -1 shows all\n", shown, all);
}

KeyTable read_key_averages(Options& options, const std::vector<std::string>& files) {
  TableStyle& style = options.style;
  KeyTable table = key_averages(files, options.keys);
  print_warnings(table.warnings);
  if (style.sort_by.empty()) style.sort_by = default_sort_key(table);
  if (style.sort_by == "none") style.sort_by.clear();
  return table;
}

int print_key_averages(Options& options, const std::vector<std::string>& files) {
  const KeyTable table = read_key_averages(options, files);
  if (options.csv) {
    std::fputs(table_csv(table, options.style).c_str(), stdout);
  } else {
    print_table(table, options.style, files.size());
  }
  return table.truncated ? kFailure : kSuccess;
}

std::string views_json(Options& options, const std::vector<std::string>& files, std::vector<View>& views,
                       bool& truncated) {
  JsonWriter json;
  json.open_object();
  if (options.table) {
    const KeyTable table = read_key_averages(options, files);
    truncated = truncated || table.truncated;
    json.key("table").raw(table_json(table, options.style, files));
  }
  for (View& view : views) {
    limit_rows(view, options.style.row_limit);
    json.line_unless_first(0).key(view.key).raw(view_json(view));
  }
  return json.close_object().text() + "\n";
}

std::string summary_json(Options& options, const std::vector<std::string>& files, bool& truncated) {
  if (options.any_view()) {
    Views made = make_views(files, options.views);
    if (!options.table) print_warnings(made.warnings);
    truncated = truncated || made.truncated;
    return views_json(options, files, made.views, truncated);
  }
  const KeyTable table = read_key_averages(options, files);
  truncated = truncated || table.truncated;
  return table_json(table, options.style, files);
}

/// With several groups, a list of their summaries.
int print_json(const Options& options, const std::vector<TraceGroup>& groups) {
  bool truncated = false;
  JsonWriter json;
  json.open_object().key("groups").open_list();
  for (const TraceGroup& group : groups) {
    Options of_group = options;
    const std::string summary = summary_json(of_group, group.paths, truncated);
    if (groups.size() == 1) {
      std::fputs(summary.c_str(), stdout);
      return truncated ? kFailure : kSuccess;
    }
    json.line_unless_first(1).open_object().member("role", group.role).member("run_name", group.run_name);
    json.member("folder", group.folder).member("world_size", group.world_size);
    json.list("ranks", std::vector<int>(group.ranks.begin(), group.ranks.end()));
    json.line(1).key("summary").raw(summary).close_object();
  }
  std::puts(json.close_list().close_object().text().c_str());
  return truncated ? kFailure : kSuccess;
}

int print_views_text(Options& options, const std::vector<std::string>& files, std::vector<View>& views) {
  const int status = options.table ? print_key_averages(options, files) : kSuccess;
  bool first = !options.table;
  for (View& view : views) {
    limit_rows(view, options.style.row_limit);
    const std::string text = options.csv ? view_csv(view) : view_text(view, options.style.time_unit);
    std::printf("%s%s", first ? "" : "\n", text.c_str());
    first = false;
  }
  return status;
}

int print_views(Options& options, const std::vector<std::string>& files) {
  Views made = make_views(files, options.views);
  if (!options.table) print_warnings(made.warnings);
  const int status = print_views_text(options, files, made.views);
  return std::max(made.truncated ? kFailure : kSuccess, status);
}

int print_text(const Options& options, const std::vector<TraceGroup>& groups) {
  int status = kSuccess;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups.size() > 1) std::printf("%s%s\n", i > 0 ? "\n" : "", printable(group_heading(groups[i], i)).c_str());
    Options of_group = options;
    const bool views = options.any_view();
    const int one = views ? print_views(of_group, groups[i].paths) : print_key_averages(of_group, groups[i].paths);
    status = std::max(status, one);
  }
  return status;
}

bool is_valid_order(const std::string& sort_by) {
  const std::vector<std::string_view> keys(std::begin(kTableOrders), std::end(kTableOrders));
  if (sort_by.empty() || sort_by == "none" || std::find(keys.begin(), keys.end(), sort_by) != keys.end()) return true;
  const std::string_view near = nearest(sort_by, keys);
  std::string all;
  for (const std::string_view key : keys) all.append(all.empty() ? "" : ", ").append(key);
  std::fprintf(stderr, "profshim summary: --sort-by: unknown column \"%s\"; %s\n", sort_by.c_str(),
               near.empty() ? ("use one of " + all + ", none").c_str()
                            : ("did you mean \"" + std::string(near) + "\"?").c_str());
  return false;
}

bool choose_grouping(Options& options) {
  if (options.group_by == "node") options.keys.grouping = KeyGrouping::kNode;
  if (options.group_by == "all") options.keys.grouping = KeyGrouping::kAll;
  if (options.group_by.empty() || options.table || !options.any_view()) return true;
  std::fputs("profshim summary: --group-by is for the table: add --table\n", stderr);
  return false;
}

int run(int argc, char** argv) {
  Options options;
  Arguments arguments(
      "summary",
      "Sums up traces of profshim or torch.profiler by name, as PyTorch's key_averages().table(). With several\n"
      "ranks, each rank has its own rows (column Node ID; see --group-by). Each group of processes of a launch\n"
      "has a summary of its own. The time of a kernel counts in the row of the operator that launched it and in\n"
      "that of the kernel.");
  arguments.add("PATH", options.paths, "Trace files, or folders to search for them").required();
  arguments.add("--table", options.table, "Print the table of key_averages() (default)");
  arguments.add("--kernels", options.views.kernels, "Print device activity by name: kernels, copies, memsets");
  arguments.add("--steps", options.views.steps,
                "Print the time breakdown of each step, its slowest rank, and gaps without any activity");
  arguments.add("--comms", options.views.comms,
                "Print collectives by group and function: sizes, bandwidths, waiting, last and missing ranks");
  arguments.add("--mpi", options.views.mpi, "Print MPI calls by function, with their share of the time");
  arguments.add("--phases", options.views.phases,
                "Print the phases of the spec: occurrences, times, and the calls and device activity inside");
  arguments
      .add("--gap-us", options.views.gap_us, "With --steps: minimum length of a gap in microseconds (default: 1000)")
      .range(0);
  arguments.add("--sort-by", options.style.sort_by,
                "Sort by self_cpu_time_total, cpu_time_total, self_cuda_time_total, count, ...; none: by first event "
                "(default: self time on devices if there is any, or else on the CPU)");
  arguments.add("--row-limit", options.style.row_limit,
                "Maximum number of rows; -1 = all (default: 20; with --json and --csv: all)");
  arguments.add("--header", options.style.header, "Print this line above the table");
  arguments.add("--top-level", options.style.top_level_only, "Show only events that are not nested in others");
  arguments.add("--time-unit", options.style.time_unit, "Unit for all times: s, ms or us").one_of({"s", "ms", "us"});
  arguments
      .add("--group-by", options.group_by,
           "Rows of the table for each rank (default), each node (host), or all ranks together")
      .one_of({"rank", "node", "all"});
  arguments.add("--group-by-shapes", options.keys.by_shapes,
                "Separate rows for different input shapes (needs capture.record_shapes = true)");
  arguments.add("--several-runs", options.views.several_runs,
                "Add up traces of different runs, which is an error else");
  arguments.add("--attempt", options.attempt, kAttemptHelp).range(0);
  arguments.add("--json", options.json, "Print JSON, with times in microseconds");
  arguments.add("--csv", options.csv, "Print CSV, with times in microseconds");
  arguments.exclusive({"--json", "--csv"});
  arguments.footer("Example:\n  profshim summary ./profshim/my-run/step11 --sort-by cpu_time_total\n\n" +
                   std::string(kExitStatus) +
                   "\nIf a trace ends early, the part before the end is shown, and the exit status is 2.");
  int status = kSuccess;
  if (!arguments.parse(argc, argv, status)) return status;
  TableStyle& style = options.style;
  options.keys.several_runs = options.views.several_runs;
  if (!is_valid_order(style.sort_by) || !choose_grouping(options)) return kFailure;
  if (!arguments.given("--row-limit") && !options.json && !options.csv) style.row_limit = kRowLimit;

  std::vector<std::string> files;
  if (!collect_traces(options.paths, files, false, options.attempt)) return kFailure;
  const std::vector<TraceGroup> groups =
      options.views.several_runs ? std::vector{TraceGroup{.paths = files}} : groups_of(files);
  if (options.csv && refuse_groups("summary --csv", groups)) return kFailure;
  return options.json ? print_json(options, groups) : print_text(options, groups);
}

}  // namespace

extern const Command kSummary;
const Command kSummary = {"summary", "sum up traces by name, as PyTorch's key_averages() table", run};

}  // namespace profshim::cli
