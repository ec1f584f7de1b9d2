// Makes the rows of key_averages().table() as torch.autograd.profiler_util does:
//
//  * Host rows: operators, ranges, CUDA and MPI calls. Device rows: kernels, copies, memsets, ranges.
//  * A kernel counts in the row of the operator with its External id, else of the launching call, and in its own row:
//    only device rows may be added up.
//  * Memory: allocated minus released during an event, on any thread.
//
// Differences from PyTorch:
//
//  * Python functions enclose nothing. PyTorch makes the self time of the range around them negative.
//  * A parent into which a child is folded (span_tree.h) keeps its own kernels.
//  * Asynchronous events have their own rows.
#pragma once

#include <cstdint>

#include "analysis/model/timeline.h"
#include "key_rows.h"
#include "profshim/analysis/summary.h"
#include "row_names.h"

namespace profshim::analysis_detail {

class KeyAverages {
 public:
  explicit KeyAverages(bool group_by_shapes) : group_by_shapes_(group_by_shapes) {}

  void add(const Timeline& timeline, int node_id);
  /// Adds to the rows of the timeline's node. Throws std::runtime_error if it is unknown.
  void add_by_node(const Timeline& timeline) { add(timeline, nodes_.number_of(timeline)); }
  KeyTable finish();

 private:
  DeviceUse& device_use(int node_id);

  bool group_by_shapes_;
  std::uint64_t files_ = 0;
  KeyRows rows_;
  NodeNumbers nodes_;
  KeyTable table_;
};

}  // namespace profshim::analysis_detail
