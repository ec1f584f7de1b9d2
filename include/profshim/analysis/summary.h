// PyTorch's table key_averages().table() from finished traces, ours and those of torch.profiler. The rows are explained
// in src/analysis/summary/table/key_averages.h; src/analysis/summary/table/table_text.h prints them. Tool only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace profshim {

/// All events of one name: of one node, and either of the host or of a device. Sums over them.
struct KeyRow {
  std::string name;
  std::string input_shapes;  // "[[2, 3], []]"; "" when rows are not divided by them
  int node_id = -1;          // the rank, -1 = not known or not asked for
  bool on_device = false;
  bool annotation = false;    // a range of the user's, or such a range as a stream saw it
  bool asynchronous = false;  // no self time: by no thread in particular
  bool top_level = true;      // its first event lies in no other
  std::uint64_t calls = 0;
  double self_cpu_us = 0, cpu_total_us = 0;
  double self_device_us = 0, device_total_us = 0;
  double cpu_bytes = 0, self_cpu_bytes = 0;  // what allocators gave, less what they took back
  double device_bytes = 0, self_device_bytes = 0;
  double flops = 0;  // floating-point operations, of operators that have a formula
};

/// When devices worked, in all files of one node.
struct DeviceUse {
  int node_id = -1;
  bool any = false;             // there was work on a device
  double busy_us = 0;           // at least one kernel, copy or memset at a time; each device for itself
  double communication_us = 0;  // likewise, a collective kernel
  double exposed_us = 0;        // a collective kernel and no other kernel
};

struct KeyTable {
  std::vector<KeyRow> rows;  // in the order of their first events
  std::vector<DeviceUse> devices;
  bool memory = false;                 // allocations were recorded
  std::uint64_t dropped_events = 0;    // by the count of those who recorded
  bool drops_known = true;             // Kineto does not count them
  std::uint64_t incomplete_files = 0;  // windows that the end of the job cut
  bool truncated = false;              // a file ends early
  std::vector<std::string> warnings;
};

/// The table of all these files; with more than one, rows of each rank for themselves. Throws std::runtime_error with
/// one line for a file that is no trace or holds no events.
KeyTable key_averages(const std::vector<std::string>& paths, bool group_by_shapes);

struct TableStyle {
  std::string sort_by;          // one of sort_keys(), or "" = as they first appear
  std::int64_t row_limit = -1;  // -1 = all
  std::string header;
  bool top_level_only = false;
  std::string time_unit;  // "s", "ms", "us", or "" = what fits
};

/// What a table can be sorted by: "self_cuda_time_total" and the like.
const std::vector<std::string_view>& sort_keys();

/// The rows that a table of that style has, in its order.
std::vector<const KeyRow*> table_rows(const KeyTable& table, const TableStyle& style);

struct TableTotals {
  double self_cpu_us = 0;
  double self_device_us = 0;  // rows of devices without ranges: each kernel once
  bool has_device_time = false;
};
TableTotals table_totals(const KeyTable& table);

/// Exactly the text of PyTorch's table; "" without rows.
std::string table_text(const KeyTable& table, const TableStyle& style);

/// "1.234ms"; `unit` as in TableStyle.
std::string format_time(double us, std::string_view unit = {});

}  // namespace profshim
