// Matches collectives of torch.distributed across ranks if they have no sequence number ("Seq"): all of gloo, and those
// of NCCL in traces of PyTorch before 2026-03.
//
// The key of a collective is made of its group, the step of the call, its position among the calls of that group in
// that step, and the names and sizes of all these calls. If two ranks have different calls in a step, none of them
// match. Without steps the calls of the whole window take the place of those of a step; they must not repeat in a way
// that would also fit a window that begins a little earlier or later.
//
// A false match makes a wrong clock with a wrong error bound, so uncertain matches are left out.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "rank_trace.h"

namespace profshim::analysis_detail {

class TorchSyncPoints {
 public:
  TorchSyncPoints();
  ~TorchSyncPoints();
  /// Reads a complete event. `place`: its index in the file.
  void slice(const ReadEvent& e, std::uint64_t place);
  /// Read the two ends of an asynchronous slice.
  void begins(const ReadEvent& e);
  void ends(const ReadEvent& e);
  /// Must be called after the last event. Appends sync points in no particular order.
  void finish(const TraceMetadata& metadata, std::vector<SyncPoint>& sync_points);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace profshim::analysis_detail
