// Which collectives of torch.distributed in several traces are the same one, where they have no number ("Seq"): all of
// gloo, and those of NCCL in traces of PyTorch before 2026-03.
//
// A collective is known by its group, the step that it was called in, its place among the calls of that group in that
// step, and all of these calls, name by name and size by size: where two ranks have not the same calls in a step, none
// of them is taken to be the same. Without steps that holds for the calls of the whole window, and they must not repeat
// themselves in such a way that they could be those of a window a little earlier or later.
//
// A false match makes a false clock whose stated error does not hold, so what is not certain is left out.
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
  /// A complete event; `place`: of it in the file.
  void slice(const ReadEvent& e, std::uint64_t place);
  /// The ends of an asynchronous slice.
  void begins(const ReadEvent& e);
  void ends(const ReadEvent& e);
  /// After the last event, with what stands beside the events. Appends, in no order.
  void finish(const TraceMetadata& metadata, std::vector<SyncPoint>& sync_points);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace profshim::analysis_detail
