#pragma once

#include <cstdint>

#include "analysis/model/timeline.h"
#include "key_rows.h"

namespace profshim::analysis_detail {

void add_file_rows(KeyRows& rows, const Timeline& timeline, int node_id, std::uint64_t file, bool by_shapes);

}  // namespace profshim::analysis_detail
