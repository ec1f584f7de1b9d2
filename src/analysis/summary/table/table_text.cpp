// Prints the table exactly as torch.autograd.profiler_util._build_table does.
#include <algorithm>
#include <stdexcept>

#include "analysis/summary/cell_text.h"
#include "profshim/analysis/summary.h"
#include "profshim/base/text/message_text.h"
#include "profshim/spec/table_orders.h"

namespace profshim {

using namespace analysis_detail;

namespace {

constexpr std::size_t kColumn = 12, kSpacing = 2;
constexpr const char* kFlops[] = {"FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs"};
constexpr int kMostFlops = 5;
constexpr std::size_t kLongestName = 55, kLongestShapes = 80;

using Value = double (*)(const KeyRow&);
struct Key {
  std::string_view name;
  Value value;
};

constexpr Key kKeys[] = {
    {"self_cpu_time_total", [](const KeyRow& r) { return r.self_cpu_us; }},
    {"cpu_time_total", [](const KeyRow& r) { return r.cpu_total_us; }},
    {"cpu_time", [](const KeyRow& r) { return r.per_call(r.cpu_total_us); }},
    {"self_cuda_time_total", [](const KeyRow& r) { return r.self_device_us; }},
    {"self_device_time_total", [](const KeyRow& r) { return r.self_device_us; }},
    {"cuda_time_total", [](const KeyRow& r) { return r.device_total_us; }},
    {"device_time_total", [](const KeyRow& r) { return r.device_total_us; }},
    {"cuda_time", [](const KeyRow& r) { return r.per_call(r.device_total_us); }},
    {"device_time", [](const KeyRow& r) { return r.per_call(r.device_total_us); }},
    {"self_cpu_memory_usage", [](const KeyRow& r) { return r.self_cpu_bytes; }},
    {"cpu_memory_usage", [](const KeyRow& r) { return r.cpu_bytes; }},
    {"self_cuda_memory_usage", [](const KeyRow& r) { return r.self_device_bytes; }},
    {"self_device_memory_usage", [](const KeyRow& r) { return r.self_device_bytes; }},
    {"cuda_memory_usage", [](const KeyRow& r) { return r.device_bytes; }},
    {"device_memory_usage", [](const KeyRow& r) { return r.device_bytes; }},
    {"count", [](const KeyRow& r) { return static_cast<double>(r.calls); }},
};
static_assert(std::equal(std::begin(kKeys), std::end(kKeys), std::begin(kTableOrders), std::end(kTableOrders),
                         [](const Key& key, std::string_view name) { return key.name == name; }));

Value find_value(std::string_view key) {
  for (const Key& known : kKeys) {
    if (known.name == key) return known.value;
  }
  throw std::runtime_error("a table cannot be sorted by \"" + std::string(key) + "\"");
}

struct Layout {
  bool device = false, memory = false, device_memory = false, node = false, shapes = false;
  std::size_t name_width = 0, shapes_width = 0, shapes_column = 0;
  double flops_unit = 1;
  int flops = -1;  // index in kFlops, by the smallest value; -1 = no column

  explicit Layout(const KeyTable& table) : memory(table.memory) {
    std::size_t longest_name = 0, longest_shapes = 0;
    double least_flops = 0;
    for (const KeyRow& row : table.rows) {
      device = device || row.self_device_us > 0;
      device_memory = device_memory || (memory && row.self_device_bytes > 0);
      node = node || row.node_id != -1;
      shapes = shapes || row.input_shapes.size() > 2;
      if (row.flops > 0 && (least_flops == 0 || row.flops < least_flops)) least_flops = row.flops;
      longest_name = std::max(longest_name, character_count(row.name));
      longest_shapes = std::max(longest_shapes, character_count(row.input_shapes));
    }
    name_width = std::min(longest_name + 4, kLongestName);
    shapes_width = std::min(longest_shapes + 4, kLongestShapes);
    if (least_flops > 0) flops = 0;
    for (; flops >= 0 && flops < kMostFlops && least_flops >= 1000 * flops_unit; ++flops) flops_unit *= 1000;
    if (shapes) shapes_column = header().size() - (flops >= 0 ? 2 : 1);
  }

  std::vector<std::string> header() const {
    std::vector<std::string> cells = {"Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"};
    if (device) cells.insert(cells.end(), {"Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg"});
    if (memory) cells.insert(cells.end(), {"CPU Mem", "Self CPU Mem"});
    if (device_memory) cells.insert(cells.end(), {"CUDA Mem", "Self CUDA Mem"});
    cells.emplace_back("# of Calls");
    if (node) cells.emplace_back("Node ID");
    if (shapes) cells.emplace_back("Input Shapes");
    if (flops >= 0) cells.push_back(std::string("Total ") + kFlops[flops]);
    return cells;
  }

  std::size_t width(std::size_t column) const {
    if (column == 0) return name_width;
    return shapes && column == shapes_column ? shapes_width : kColumn;
  }

  std::vector<std::string> cells(const KeyRow& row, const TableTotals& totals, const std::string& unit) const {
    std::string name = printable(row.name);
    if (character_count(name) >= kLongestName - 3) name = shortened(name, kLongestName - 3);
    std::vector<std::string> cells = {
        name,
        format_share(row.self_cpu_us, totals.self_cpu_us),
        format_time(row.self_cpu_us, unit),
        row.asynchronous ? "0" : format_share(row.cpu_total_us, totals.self_cpu_us),
        format_time(row.cpu_total_us, unit),
        format_time(row.per_call(row.cpu_total_us), unit),
    };
    if (device) {
      cells.push_back(format_time(row.self_device_us, unit));
      cells.push_back(format_share(row.self_device_us, totals.self_device_us));
      cells.push_back(format_time(row.device_total_us, unit));
      cells.push_back(format_time(row.per_call(row.device_total_us), unit));
    }
    if (memory) {
      cells.push_back(format_bytes(row.cpu_bytes));
      cells.push_back(format_bytes(row.self_cpu_bytes));
    }
    if (device_memory) {
      cells.push_back(format_bytes(row.device_bytes));
      cells.push_back(format_bytes(row.self_device_bytes));
    }
    cells.push_back(std::to_string(row.calls));
    if (node) cells.push_back(std::to_string(row.node_id));
    if (shapes) cells.emplace_back(first_characters(printable(row.input_shapes), shapes_width));
    if (flops >= 0) cells.push_back(row.flops > 0 ? fixed(row.flops / flops_unit, 3) : "--");
    return cells;
  }
};

class Lines {
 public:
  explicit Lines(const Layout& layout) : layout_(layout), columns_(layout.header().size()) {}

  void add(std::string_view line) { text_.append(line) += '\n'; }
  void add_rule() {
    for (std::size_t i = 0; i < columns_; ++i) text_.append(layout_.width(i), '-').append(kSpacing, ' ');
    text_ += '\n';
  }
  void add_double_rule() {
    std::size_t width = 0;
    for (std::size_t i = 0; i < columns_; ++i) width += layout_.width(i) + kSpacing;
    add(std::string(width - kSpacing, '='));
  }
  void row(const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t width = layout_.width(i), own = character_count(cells[i]);
      text_.append(width > own ? width - own : 0, ' ').append(cells[i]).append(kSpacing, ' ');
    }
    text_ += '\n';
  }
  std::string take() { return std::move(text_); }

 private:
  const Layout& layout_;
  std::size_t columns_;
  std::string text_;
};

}  // namespace

std::vector<const KeyRow*> table_rows(const KeyTable& table, const TableStyle& style) {
  std::vector<const KeyRow*> rows;
  for (const KeyRow& row : table.rows) {
    if (!style.top_level_only || row.top_level) rows.push_back(&row);
  }
  if (!style.sort_by.empty()) {
    const Value value = find_value(style.sort_by);
    std::stable_sort(rows.begin(), rows.end(), [=](const KeyRow* a, const KeyRow* b) { return value(*a) > value(*b); });
  }
  if (style.row_limit >= 0 && static_cast<std::uint64_t>(style.row_limit) < rows.size()) {
    rows.resize(static_cast<std::size_t>(style.row_limit));
  }
  return rows;
}

TableTotals table_totals(const KeyTable& table) {
  TableTotals totals;
  for (const KeyRow& row : table.rows) {
    totals.self_cpu_us += row.self_cpu_us;
    if (row.on_device && !row.annotation) totals.self_device_us += row.self_device_us;
    totals.has_device_time = totals.has_device_time || row.self_device_us > 0;
  }
  return totals;
}

std::string_view default_sort_key(const KeyTable& table) {
  return table_totals(table).has_device_time ? "self_device_time_total" : "self_cpu_time_total";
}

std::string table_text(const KeyTable& table, const TableStyle& style) {
  if (table.rows.empty()) return "";
  const Layout layout(table);
  const TableTotals totals = table_totals(table);
  Lines lines(layout);
  if (!style.header.empty()) {
    lines.add_double_rule();
    lines.add(style.header);
  }
  if (style.top_level_only) {
    lines.add_double_rule();
    lines.add("This report only display top-level ops statistics");
  }
  lines.add_rule();
  lines.row(layout.header());
  lines.add_rule();
  for (const KeyRow* row : table_rows(table, style)) lines.row(layout.cells(*row, totals, style.time_unit));
  lines.add_rule();
  lines.add("Self CPU time total: " + format_time(totals.self_cpu_us, style.time_unit));
  if (totals.has_device_time) {
    lines.add("Self CUDA time total: " + format_time(totals.self_device_us, style.time_unit));
  }
  return lines.take();
}

}  // namespace profshim
