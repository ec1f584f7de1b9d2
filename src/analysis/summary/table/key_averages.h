// The rows of key_averages().table(), as torch.autograd.profiler_util makes them:
//
//  * Host rows: operators, ranges, CUDA and MPI calls. Device rows: kernels, copies, memsets and ranges on streams.
//    Python functions, synchronization and PyTorch's own helpers (row_names.cpp) have no rows. All ProfilerStep#N are
//    one row, ProfilerStep*.
//  * Host events are nested and folded (span_tree.h).
//  * A kernel counts for the operator that its External id names, otherwise for the call with its correlation. Its time
//    is in the self device time of that row and in the kernel's own row, so only device rows may be added up.
//  * The memory of an event is what allocators did between its begin and end, on any thread.
//
// Differences from PyTorch: Python functions enclose nothing (PyTorch takes the time of their operators away from the
// range around them, whose self time becomes negative); threads of several nodes are never mixed up; a parent that
// takes over the kernels of a folded child keeps its own; asynchronous events have a row of their own beside the calls
// of the same name.
#pragma once

#include <cstdint>

#include "analysis/model/timeline.h"
#include "key_rows.h"
#include "profshim/analysis/summary.h"

namespace profshim::analysis_detail {

/// Adds up files one after the other. Keeps no timeline.
class KeyAverages {
 public:
  explicit KeyAverages(bool group_by_shapes) : group_by_shapes_(group_by_shapes) {}

  void add(const Timeline& timeline, int node_id);
  KeyTable finish();

 private:
  DeviceUse& device_use(int node_id);

  bool group_by_shapes_;
  std::uint64_t files_ = 0;
  KeyRows rows_;
  KeyTable table_;
};

}  // namespace profshim::analysis_detail
