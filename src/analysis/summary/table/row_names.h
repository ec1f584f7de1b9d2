#pragma once

#include <cstdint>
#include <vector>

#include "analysis/model/timeline.h"

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

}  // namespace profshim::analysis_detail
