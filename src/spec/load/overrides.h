#pragma once

#include <string>
#include <utility>
#include <vector>

#include "profshim/base/problem.h"
#include "spec/value.h"

namespace profshim::spec {

/// Layers, lowest first: PROFSHIM_SET, short variables (PROFSHIM_RANKS, ...), the command line.
struct Overrides {
  std::vector<std::vector<Given>> layers;
  std::vector<Problem> problems;
  bool any_variable = false;
};
Overrides read_overrides(const std::vector<std::pair<std::string, std::string>>& environment,
                         const std::vector<std::pair<std::string, std::string>>& options);

}  // namespace profshim::spec
