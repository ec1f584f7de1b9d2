// Matches collectives of torch.distributed without a sequence number ("Seq"): gloo, and NCCL in PyTorch before 2026-03.
//
// The key of a match holds the group, the step, the position in the step, and names and sizes of the step's calls.
// Uncertain matches are left out: a false match makes a wrong clock.
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
  /// `place`: index of `e` in the file.
  void slice(const ReadEvent& e, std::uint64_t place);
  void begins(const ReadEvent& e);
  void ends(const ReadEvent& e);
  void finish(const TraceMetadata& metadata, std::vector<SyncPoint>& sync_points);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace profshim::analysis_detail
