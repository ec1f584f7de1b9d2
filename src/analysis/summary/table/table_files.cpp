#include "profshim/analysis/summary.h"
#include "profshim/analysis/views.h"
#include "profshim/json/writer.h"

namespace profshim {
namespace {

constexpr int kDecimals = 3;  // microseconds with nanosecond digits

void write_row(JsonWriter& json, const KeyRow& row) {
  const auto number = [&](std::string_view key, double value) { json.key(key).decimal(value, kDecimals); };
  json.open_object().member("name", row.name).member("node_id", row.node_id).member("device", row.on_device);
  json.member("user_annotation", row.annotation).member("asynchronous", row.asynchronous).member("calls", row.calls);
  number("self_cpu_us", row.self_cpu_us);
  number("cpu_total_us", row.cpu_total_us);
  number("self_device_us", row.self_device_us);
  number("device_total_us", row.device_total_us);
  number("cpu_bytes", row.cpu_bytes);
  number("self_cpu_bytes", row.self_cpu_bytes);
  number("device_bytes", row.device_bytes);
  number("self_device_bytes", row.self_device_bytes);
  number("flops", row.flops);
  if (!row.input_shapes.empty()) json.key("input_shapes").raw(row.input_shapes);
  json.close_object();
}

}  // namespace

std::string table_json(const KeyTable& table, const TableStyle& style, const std::vector<std::string>& files) {
  const TableTotals totals = table_totals(table);
  JsonWriter json;
  const auto number = [&](std::string_view key, double value) { json.key(key).decimal(value, kDecimals); };
  json.open_object().list("files", files).line(1);
  number("self_cpu_time_total_us", totals.self_cpu_us);
  number("self_device_time_total_us", totals.self_device_us);
  json.line(1).key("devices").open_list();
  for (const DeviceUse& use : table.devices) {
    if (!use.any) continue;
    json.open_object().member("node_id", use.node_id);
    number("busy_us", use.busy_us);
    number("communication_us", use.communication_us);
    number("exposed_communication_us", use.exposed_us);
    json.close_object();
  }
  json.close_list();
  if (!table.nodes.empty()) {
    json.line(1).key("nodes").open_list();
    for (const KeyNode& node : table.nodes) {
      json.open_object().member("node_id", node.id).member("host", node.host).list("ranks", node.ranks).close_object();
    }
    json.close_list();
  }
  json.line(1).key("dropped_events");
  table.drops_known ? json.value(table.dropped_events) : json.null();
  json.member("incomplete_files", table.incomplete_files).member("truncated", table.truncated);
  json.list("warnings", table.warnings).line(1).key("rows").open_list();
  for (const KeyRow* row : table_rows(table, style)) write_row(json.line(2), *row);
  return json.close_list().close_object().text() + "\n";
}

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
