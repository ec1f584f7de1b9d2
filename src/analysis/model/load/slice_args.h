#pragma once

#include "analysis/model/timeline.h"
#include "profshim/trace/reader.h"

namespace profshim::analysis_detail {

struct SliceArgs {
  std::int64_t correlation = 0, external_id = 0, bytes = -1, flops = 0;
  // Valid as long as the event. input_dims: compact JSON.
  std::string_view input_dims, phase, outer_phases;
  Communication communication;
  bool communicates = false;
  bool unfinished = false, resumed = false;
};

SliceArgs read_slice_args(const ReadEvent& event, Kind kind, Texts& texts);

}  // namespace profshim::analysis_detail
