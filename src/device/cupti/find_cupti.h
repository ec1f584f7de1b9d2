// Finds and opens libcupti.
#pragma once

#include <string>

#include "api.h"

namespace profshim::device {

struct FoundCupti {
  CuptiApi api;
  std::string path;
  std::string problem;  // "" = found
};
/// Search order: the mapped libcupti, $PROFSHIM_CUPTI, near the mapped libcudart, by SONAME from the driver's version
/// down, toolkits. Never loads a second copy.
FoundCupti find_cupti();

}  // namespace profshim::device
