#include "profshim/analysis/summary.h"
#include "profshim/analysis/views.h"

namespace profshim {

std::string table_csv(const KeyTable& table, const TableStyle& style) {
  ViewTable csv{.columns = {{"name"},
                            {"node_id"},
                            {"device"},
                            {"user_annotation"},
                            {"asynchronous"},
                            {"calls"},
                            {"self_cpu_us"},
                            {"cpu_total_us"},
                            {"cpu_time_avg_us"},
                            {"self_device_us"},
                            {"device_total_us"},
                            {"device_time_avg_us"},
                            {"cpu_bytes"},
                            {"self_cpu_bytes"},
                            {"device_bytes"},
                            {"self_device_bytes"},
                            {"flops"},
                            {"input_shapes"}}};
  const auto number = [](auto value) { return static_cast<std::int64_t>(value); };
  for (const KeyRow* row : table_rows(table, style)) {
    Cell shapes;
    if (!row->input_shapes.empty()) shapes = row->input_shapes;
    csv.rows.push_back({row->name, number(row->node_id), number(row->on_device), number(row->annotation),
                        number(row->asynchronous), number(row->calls), row->self_cpu_us, row->cpu_total_us,
                        row->per_call(row->cpu_total_us), row->self_device_us, row->device_total_us,
                        row->per_call(row->device_total_us), row->cpu_bytes, row->self_cpu_bytes, row->device_bytes,
                        row->self_device_bytes, row->flops, shapes});
  }
  return view_csv({.tables = {std::move(csv)}});
}

}  // namespace profshim
