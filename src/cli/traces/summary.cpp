// profshim summary PATH...: what took the time, as PyTorch's key_averages().table() says it, and other views of
// finished traces.
#include "profshim/analysis/summary.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "cli/command.h"
#include "cli/spec/spec_options.h"
#include "profshim/analysis/views.h"
#include "profshim/base/nearest.h"
#include "profshim/base/printable.h"
#include "profshim/trace.h"
#include "trace_files.h"

namespace profshim::cli {
namespace {

constexpr std::int64_t kRowLimit = 20;

struct Options {
  std::vector<std::string> paths;
  TableStyle style;
  ViewChoice views;
  bool table = false, by_shapes = false, json = false, csv = false;
  bool any_view() const { return views.kernels || views.steps || views.comms || views.mpi; }
};

std::string number(double value) {
  char text[400];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

double per_call(double sum, const KeyRow& row) {
  return sum / static_cast<double>(std::max<std::uint64_t>(row.calls, 1));
}

// ---- under the table

/// "1.215ms (555.000us on rank 1 to 660.000us on rank 0)"; the ranks only where there are several.
std::string over_ranks(const std::vector<DeviceUse>& devices, double DeviceUse::*value, const std::string& unit) {
  double sum = 0;
  for (const DeviceUse& use : devices) sum += use.*value;
  const std::string text = format_time(sum, unit);
  if (devices.size() < 2) return text;
  const auto [least, most] = std::minmax_element(
      devices.begin(), devices.end(), [=](const DeviceUse& a, const DeviceUse& b) { return a.*value < b.*value; });
  const auto one = [&](const DeviceUse& use) {
    return format_time(use.*value, unit) + " on rank " + std::to_string(use.node_id);
  };
  return text + " (" + one(*least) + " to " + one(*most) + ")";
}

std::string drops_text(const KeyTable& table) {
  if (table.drops_known || table.dropped_events > 0) return std::to_string(table.dropped_events);
  return "not counted by the recorder";
}

void print_table(const KeyTable& table, const TableStyle& style, std::size_t files) {
  std::fputs(table_text(table, style).c_str(), stdout);
  const std::string& unit = style.time_unit;
  const bool any = std::any_of(table.devices.begin(), table.devices.end(), [](const DeviceUse& u) { return u.any; });
  const bool collectives = std::any_of(table.devices.begin(), table.devices.end(),
                                       [](const DeviceUse& u) { return u.communication_us > 0; });
  const std::string busy = any ? over_ranks(table.devices, &DeviceUse::busy_us, unit) : "no device activity";
  const std::string exposed =
      collectives ? over_ranks(table.devices, &DeviceUse::exposed_us, unit) : "no collective kernels";
  std::printf("Device busy (union): %s\n", busy.c_str());
  std::printf("Exposed communication: %s\n", exposed.c_str());
  std::printf("Dropped events: %s\n", drops_text(table).c_str());
  if (table.incomplete_files > 0) {
    std::printf(
        "Incomplete: %llu of %zu traces: the end of the job cut their windows, or some threads were not recorded\n",
        static_cast<unsigned long long>(table.incomplete_files), files);
  }
  TableStyle whole = style;
  whole.row_limit = -1;
  const std::size_t shown = table_rows(table, style).size(), all = table_rows(table, whole).size();
  if (shown < all) std::printf("Rows: %zu of %zu; --row-limit -1 shows all\n", shown, all);
}

// ---- for machines: times in microseconds

std::string row_json(const KeyRow& row) {
  std::string text = "{\"name\": " + json_string(row.name) + ", \"node_id\": " + std::to_string(row.node_id);
  text += std::string(", \"device\": ") + (row.on_device ? "true" : "false");
  text += std::string(", \"user_annotation\": ") + (row.annotation ? "true" : "false");
  text += std::string(", \"asynchronous\": ") + (row.asynchronous ? "true" : "false");
  text += ", \"calls\": " + std::to_string(row.calls);
  text += ", \"self_cpu_us\": " + number(row.self_cpu_us) + ", \"cpu_total_us\": " + number(row.cpu_total_us);
  text += ", \"self_device_us\": " + number(row.self_device_us);
  text += ", \"device_total_us\": " + number(row.device_total_us);
  text += ", \"cpu_bytes\": " + number(row.cpu_bytes) + ", \"self_cpu_bytes\": " + number(row.self_cpu_bytes);
  text += ", \"device_bytes\": " + number(row.device_bytes);
  text += ", \"self_device_bytes\": " + number(row.self_device_bytes);
  text += ", \"flops\": " + number(row.flops);
  if (!row.input_shapes.empty()) text += ", \"input_shapes\": " + row.input_shapes;
  return text + "}";
}

void print_json(const KeyTable& table, const TableStyle& style, const std::vector<std::string>& files) {
  const TableTotals totals = table_totals(table);
  const auto texts = [](const std::vector<std::string>& list) {
    std::string text = "[";
    for (const std::string& one : list) text += (text.size() > 1 ? ", " : "") + json_string(one);
    return text + "]";
  };
  std::printf("{\"files\": %s,\n \"self_cpu_time_total_us\": %s, \"self_device_time_total_us\": %s,\n \"devices\": [",
              texts(files).c_str(), number(totals.self_cpu_us).c_str(), number(totals.self_device_us).c_str());
  bool first = true;
  for (const DeviceUse& use : table.devices) {
    if (!use.any) continue;
    std::printf("%s{\"node_id\": %d, \"busy_us\": %s, \"communication_us\": %s, \"exposed_communication_us\": %s}",
                first ? "" : ", ", use.node_id, number(use.busy_us).c_str(), number(use.communication_us).c_str(),
                number(use.exposed_us).c_str());
    first = false;
  }
  std::printf(
      "],\n \"dropped_events\": %s, \"incomplete_files\": %llu, \"truncated\": %s, \"warnings\": %s,\n \"rows\": [",
      table.drops_known ? std::to_string(table.dropped_events).c_str() : "null",
      static_cast<unsigned long long>(table.incomplete_files), table.truncated ? "true" : "false",
      texts(table.warnings).c_str());
  first = true;
  for (const KeyRow* row : table_rows(table, style)) {
    std::printf("%s\n  %s", first ? "" : ",", row_json(*row).c_str());
    first = false;
  }
  std::printf("]}\n");
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result.append(c == '"' ? 2 : 1, c);
  return result + "\"";
}

void print_csv(const KeyTable& table, const TableStyle& style) {
  std::printf(
      "name,node_id,device,user_annotation,asynchronous,calls,self_cpu_us,cpu_total_us,cpu_time_avg_us,self_device_us,"
      "device_total_us,device_time_avg_us,cpu_bytes,self_cpu_bytes,device_bytes,self_device_bytes,flops,input_"
      "shapes\n");
  for (const KeyRow* row : table_rows(table, style)) {
    std::string line = quoted(row->name) + "," + std::to_string(row->node_id);
    for (const bool flag : {row->on_device, row->annotation, row->asynchronous}) line += flag ? ",1" : ",0";
    line += "," + std::to_string(row->calls);
    for (const double value :
         {row->self_cpu_us, row->cpu_total_us, per_call(row->cpu_total_us, *row), row->self_device_us,
          row->device_total_us, per_call(row->device_total_us, *row), row->cpu_bytes, row->self_cpu_bytes,
          row->device_bytes, row->self_device_bytes, row->flops}) {
      line += "," + number(value);
    }
    std::printf("%s,%s\n", line.c_str(), row->input_shapes.empty() ? "" : quoted(row->input_shapes).c_str());
  }
}

// ---- one after another

int print_key_averages(Options& options, const std::vector<std::string>& files) {
  TableStyle& style = options.style;
  const KeyTable table = key_averages(files, options.by_shapes);
  for (const std::string& warning : table.warnings) std::fprintf(stderr, "profshim: %s\n", printable(warning).c_str());
  if (style.sort_by.empty()) {
    style.sort_by = table_totals(table).has_device_time ? "self_device_time_total" : "self_cpu_time_total";
  }
  if (style.sort_by == "none") style.sort_by.clear();
  if (options.json) {
    print_json(table, style, files);
  } else if (options.csv) {
    print_csv(table, style);
  } else {
    print_table(table, style, files.size());
  }
  return table.truncated ? kInvalid : kFine;
}

/// As JSON they are members of one object, with the table as another.
int print_views(Options& options, const std::vector<std::string>& files) {
  Views made = make_views(files, options.views);
  int status = made.truncated ? kInvalid : kFine;
  if (options.json) std::printf("{");
  if (options.table) {
    if (options.json) std::printf("\"table\": ");
    status = std::max(status, print_key_averages(options, files));
  } else {
    for (const std::string& warning : made.warnings) std::fprintf(stderr, "profshim: %s\n", printable(warning).c_str());
  }
  bool first = !options.table;
  for (View& view : made.views) {
    limit_rows(view, options.style.row_limit);
    if (options.json) {
      std::printf("%s%s: %s", first ? "" : ",\n", json_string(view.key).c_str(), view_json(view).c_str());
    } else {
      const std::string text = options.csv ? view_csv(view) : view_text(view, options.style.time_unit);
      std::printf("%s%s", first ? "" : "\n", text.c_str());
    }
    first = false;
  }
  if (options.json) std::printf("}\n");
  return status;
}

// ---- the command

/// "none" is the order of the first events; what was not said is what takes the time.
bool choose_order(std::string& sort_by) {
  const auto& keys = sort_keys();
  if (sort_by.empty() || sort_by == "none" || std::find(keys.begin(), keys.end(), sort_by) != keys.end()) return true;
  const std::string_view near = nearest(sort_by, keys);
  std::string all;
  for (const std::string_view key : keys) all.append(all.empty() ? "" : ", ").append(key);
  std::fprintf(
      stderr, "profshim: --sort-by: there is no \"%s\"; %s\n", sort_by.c_str(),
      near.empty() ? ("one of " + all + ", none").c_str() : ("did you mean \"" + std::string(near) + "\"?").c_str());
  return false;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Sums up traces by name, as key_averages().table() of PyTorch does: ours, or those of torch.profiler. With "
      "several\n"
      "files the rows of each rank stand for themselves (Node ID). A kernel counts in the row of what launched it and "
      "in\n"
      "a row of its own. Example: profshim summary ./profshim/my-run/step11 --sort-by cpu_time_total\n"
      "Exit code: 0 fine, 2 no trace, unreadable, or one that ends early (what stands before the end is shown)."};
  app.name("profshim summary");
  app.add_option("PATH", options.paths, "Trace files, or folders to search for them")->required();
  app.add_flag("--table", options.table, "The table of key_averages(); the default");
  app.add_flag("--kernels", options.views.kernels, "What ran on devices, by name: kernels, copies, memsets, each once");
  app.add_flag("--steps", options.views.steps,
               "What each step was spent on, the slowest rank of each, and gaps in which nothing ran");
  app.add_flag("--comms", options.views.comms,
               "Collectives by group and function: sizes, bandwidths, who waited, who came last, who never came");
  app.add_flag("--mpi", options.views.mpi, "The calls of MPI by function, and their share of the time");
  app.add_option("--gap-us", options.views.gap_us, "--steps: gaps longer than so many microseconds. Default: 1000")
      ->check(CLI::NonNegativeNumber);
  app.add_option(
      "--sort-by", options.style.sort_by,
      "self_cpu_time_total, cpu_time_total, self_cuda_time_total, count and the like; none = by first event.\n"
      "Default: self time on devices, where there is some, else on the CPU");
  const CLI::Option* const limit = app.add_option(
      "--row-limit", options.style.row_limit, "At most so many rows; -1 = all. Default: 20, of --json and --csv all");
  app.add_option("--header", options.style.header, "A line above the table");
  app.add_flag("--top-level", options.style.top_level_only, "Only what lies in nothing else");
  app.add_option("--time-unit", options.style.time_unit, "One unit for all times")
      ->check(CLI::IsMember({"s", "ms", "us"}));
  app.add_flag("--group-by-shapes", options.by_shapes, "A row for each kind of inputs (capture.record_shapes)");
  CLI::Option* const json = app.add_flag("--json", options.json, "JSON instead of text, times in microseconds");
  app.add_flag("--csv", options.csv, "CSV instead of text, likewise")->excludes(json);
  int status = kFine;
  if (!parse_arguments(app, argc, argv, status)) return status;
  TableStyle& style = options.style;
  if (!choose_order(style.sort_by)) return kInvalid;
  if (limit->count() == 0 && !options.json && !options.csv) style.row_limit = kRowLimit;

  std::vector<std::string> files;
  if (!collect_traces(options.paths, files)) return kInvalid;
  return options.any_view() ? print_views(options, files) : print_key_averages(options, files);
}

}  // namespace

extern const Command kSummary;
const Command kSummary = {"summary", "what took the time: the table of key_averages()", run};

}  // namespace profshim::cli
