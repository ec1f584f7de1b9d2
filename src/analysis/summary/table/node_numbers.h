// Numbers the nodes of a job, for tables with rows for each node.
#pragma once

#include <vector>

#include "analysis/model/timeline.h"
#include "profshim/analysis/summary.h"

namespace profshim::analysis_detail {

class NodeNumbers {
 public:
  /// Returns the index of the timeline's node in the list of finish(). Throws std::runtime_error if the trace has
  /// neither a node rank nor a host.
  int number_of(const Timeline& timeline);
  /// Gives each node its id: its node rank, or the lowest number that is free, in the order of the lowest ranks.
  std::vector<KeyNode> finish();

 private:
  std::vector<KeyNode> nodes_;  // id = -1: known by its host
};

}  // namespace profshim::analysis_detail
