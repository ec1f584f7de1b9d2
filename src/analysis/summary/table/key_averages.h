// From events to the rows of key_averages().table(), as torch.autograd.profiler_util makes them:
//
//  * Rows are operators, ranges, calls of CUDA and of MPI (host), and kernels, copies, memsets and ranges as a stream
//  saw
//    them (device). Not Python functions, waits and marks in streams. ProfilerStep#N is ProfilerStep*. PyTorch's own
//    helpers (kSkipped in the .cpp) are left out.
//  * Nesting: of one thread of one file, sorted by begin and, at one begin, the longer first; a slice is a child of the
//    nearest open one that holds it whole. What is asynchronous has neither parent nor children, self time nor kernels.
//  * An only child with its parent's name is folded into it.
//  * A kernel belongs to the operator that its External id names, else to the call with its correlation. So it is in
//  the
//    self device time of that row and in its own row: only the rows of devices may be added up.
//  * A call of CUDA is nested on the thread of the operator that its External id names.
//  * Memory: what allocators did from begin to end of a slice, on whatever thread.
//
// Other than PyTorch: Python functions hold nothing (there they take their operators' time from the range around them,
// whose self time becomes negative, and have no row themselves); rows of several nodes never mix their threads; a
// parent that takes over the kernels of a folded child keeps its own; asynchronous work has a row of its own when calls
// of that name are there too.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/model/timeline.h"
#include "profshim/analysis/summary.h"

namespace profshim::analysis_detail {

/// Takes file after file.
class KeyAverages {
 public:
  explicit KeyAverages(bool group_by_shapes) : group_by_shapes_(group_by_shapes) {}

  /// The slices of one file. Not kept.
  void add(const Timeline& timeline, int node_id);
  KeyTable finish();

 private:
  friend class FileRows;
  struct RowKey {
    TextId name, shapes;
    int node_id;
    bool on_device, annotation, asynchronous;
    bool operator==(const RowKey&) const = default;
  };
  struct RowKeyHash {
    std::size_t operator()(const RowKey& k) const {
      std::size_t h =
          (std::size_t{k.name} << 32 | k.shapes) * 0x9E3779B97F4A7C15u + static_cast<std::size_t>(k.node_id);
      return h * 0x9E3779B97F4A7C15u + (k.on_device ? 1 : 0) + (k.annotation ? 2 : 0) + (k.asynchronous ? 4 : 0);
    }
  };
  /// Where an event stands among all: by begin, the longer first, then as in the files.
  struct Place {
    std::int64_t begin = 0, end = 0;
    std::uint64_t in_file = 0;
    std::uint64_t file = 0;
    bool before(const Place& other) const;
  };
  struct Row {
    KeyRow sums;  // of nanoseconds, which are whole, until finish()
    Place first;
  };
  Row& row(const RowKey& key, const Place& place, bool top_level);
  DeviceUse& device_use(int node_id);

  bool group_by_shapes_;
  std::uint64_t files_ = 0;
  Texts texts_;  // names and shapes of rows
  std::unordered_map<RowKey, std::size_t, RowKeyHash> index_;
  std::vector<Row> rows_;
  KeyTable table_;
};

/// Does a kernel of that name communicate?
bool is_collective_kernel(std::string_view name);

}  // namespace profshim::analysis_detail
