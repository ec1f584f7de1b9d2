#pragma once

#include <cstdint>
#include <vector>

#include "analysis/model/timeline.h"
#include "profshim/analysis/summary.h"

namespace profshim::analysis_detail {

class RowNames {
 public:
  RowNames(const Texts& file_texts, Texts& row_texts);
  /// Returns kNone for names that PyTorch's table leaves out.
  std::uint32_t name_of(TextId name);
  std::uint32_t shapes_of(TextId input_dims);

 private:
  const Texts& file_texts_;
  Texts& row_texts_;
  std::vector<std::uint32_t> names_, shapes_;
};

/// Numbers the nodes of a job, for tables with rows for each node.
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
