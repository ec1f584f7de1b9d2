// Computes PyTorch's key_averages().table() from finished traces of profshim or torch.profiler.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace profshim {

/// Traces that share rows.
enum class KeyGrouping {
  kRank,  // as in PyTorch: its nodes are ranks
  kNode,
  kAll,
};

/// Sums over all events of one name, node and side (host or device).
struct KeyRow {
  std::string name;
  std::string input_shapes;  // "[[2, 3], []]"; "" unless grouped by shapes
  int node_id = -1;          // by KeyGrouping, the rank or the number of the node; -1 = unknown, or only one
  bool on_device = false;
  bool annotation = false;    // a user's range
  bool asynchronous = false;  // occupies no thread: no self time
  bool top_level = true;      // its first event is not nested
  std::uint64_t calls = 0;
  double self_cpu_us = 0, cpu_total_us = 0;
  double self_device_us = 0, device_total_us = 0;
  double cpu_bytes = 0, self_cpu_bytes = 0;  // allocated minus released
  double device_bytes = 0, self_device_bytes = 0;
  double flops = 0;

  double per_call(double sum) const { return calls == 0 ? 0 : sum / static_cast<double>(calls); }
};

/// Device activity of one node, summed over devices. Overlapping activity on a device counts once.
struct DeviceUse {
  int node_id = -1;
  bool any = false;
  double busy_us = 0;           // while a kernel, copy or memset ran
  double communication_us = 0;  // while a collective kernel ran
  double exposed_us = 0;        // while only collective kernels ran
};

struct KeyNode {
  int id = -1;
  std::string host;
  std::vector<int> ranks;
};

struct KeyTable {
  std::vector<KeyRow> rows;  // in the order of their first events
  std::vector<DeviceUse> devices;
  std::vector<KeyNode> nodes;  // with KeyGrouping::kNode
  bool memory = false;
  std::uint64_t dropped_events = 0;
  bool drops_known = true;             // false if a trace is Kineto's, which does not count drops
  std::uint64_t incomplete_files = 0;  // see RecordingInfo::complete
  std::string first_missing;           // RecordingInfo::missing of the first of them
  bool truncated = false;              // a file ends early
  std::vector<std::string> warnings;
};

struct KeyChoice {
  bool by_shapes = false;
  bool several_runs = false;
  KeyGrouping grouping = KeyGrouping::kRank;
};

/// Throws std::runtime_error if a file is not a trace or has no events, without `several_runs` if the traces are not of
/// one job, and with KeyGrouping::kNode if a trace names neither its node nor its host.
KeyTable key_averages(const std::vector<std::string>& paths, const KeyChoice& choice);

struct TableStyle {
  std::string sort_by;          // one of kTableOrders; "" = by first event
  std::int64_t row_limit = -1;  // -1 = all
  std::string header;
  bool top_level_only = false;
  std::string time_unit;  // "s", "ms", "us"; "" = the unit that fits each number
};

/// Self time on devices if there is any, or else on the CPU.
std::string_view default_sort_key(const KeyTable& table);

/// Throws std::runtime_error if `sort_by` is unknown.
std::vector<const KeyRow*> table_rows(const KeyTable& table, const TableStyle& style);

struct TableTotals {
  double self_cpu_us = 0;
  double self_device_us = 0;  // without annotations, so that each kernel counts once
  bool has_device_time = false;
};
TableTotals table_totals(const KeyTable& table);

/// Formats the table as PyTorch does; "" without rows.
std::string table_text(const KeyTable& table, const TableStyle& style);
/// Times are in microseconds.
std::string table_csv(const KeyTable& table, const TableStyle& style);

/// Times are in microseconds. `files`: the traces, as named by the user.
std::string table_json(const KeyTable& table, const TableStyle& style, const std::vector<std::string>& files);

/// Returns "1.234ms". `unit`: see TableStyle::time_unit.
std::string format_time(double us, std::string_view unit = {});

}  // namespace profshim
