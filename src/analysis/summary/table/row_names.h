// Names and input shapes of the events of one file as the table shows them.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/model/timeline.h"

namespace profshim::analysis_detail {

/// Adds the texts that rows have to `row_texts`, each when it is first asked for. Both must outlive it.
class RowNames {
 public:
  RowNames(const Texts& file_texts, Texts& row_texts);
  /// Returns the name of the row as a text of `row_texts`; kNone for PyTorch's own helpers, which have no row.
  std::uint32_t name_of(TextId name);
  /// Returns the shapes as Python prints a list.
  std::uint32_t shapes_of(TextId input_dims);

 private:
  const Texts& file_texts_;
  Texts& row_texts_;
  std::vector<std::uint32_t> names_, shapes_;  // by text of the file
};

}  // namespace profshim::analysis_detail
