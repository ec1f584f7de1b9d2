#pragma once

#include <string>

#include "api.h"

namespace profshim::device {

struct FoundCupti {
  CuptiApi api;
  std::string path;
  std::string problem;  // "" = found
};
/// Search order: the mapped libcupti (never loads a second copy), $PROFSHIM_CUPTI (then nothing else), near the mapped
/// libcudart, SONAMEs from the driver's version down, toolkits.
FoundCupti find_cupti();

}  // namespace profshim::device
