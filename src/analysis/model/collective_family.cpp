#include "collective_family.h"

#include <algorithm>
#include <iterator>

#include "profshim/base/text/ascii.h"
#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {

std::string letters(std::string_view function) {
  std::string name;
  for (const char c : function) {
    if (ascii::is_alphanumeric(c)) name += ascii::lower(c);
  }
  return name;
}

CollectiveFamily collective_family(std::string_view function) {
  const std::string name = letters(function);
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  const bool uneven = name.ends_with("v") && !name.ends_with("recv"), mpi = name.starts_with("mpi");
  CollectiveFamily family;
  if (has("neighbor")) return family;
  if (has("allreduce")) {
    family = {.bus = Bus::kTwiceOthers, .waits_for_all = true};
  } else if (has("reducescatter") || has("alltoall")) {
    family = {.bus = Bus::kOthers, .waits_for_all = true};
  } else if (has("allgather")) {
    family = {.bus = Bus::kOthers, .waits_for_all = true, .times_ranks = true};
  } else if (has("barrier")) {
    family = {.waits_for_all = true};
  } else if (has("broadcast") || has("bcast")) {
    family = {.bus = Bus::kOne};
  } else if (has("gather") || has("scatter")) {
    family = {.bus = Bus::kOthers, .times_ranks = true};
  } else if (has("reduce")) {
    family = {.bus = Bus::kOne};
  } else if (has("send") || has("recv")) {
    family = {.bus = Bus::kOne, .message = true};
  }
  family.times_ranks = family.times_ranks && mpi;
  if (uneven || (mpi && name.ends_with("alltoallw"))) {
    family.waits_for_all = false;
    family.uneven = mpi;
    family.times_ranks = false;
  }
  return family;
}

}  // namespace profshim::analysis_detail
