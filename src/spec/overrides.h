// Settings from environment and command line, as keys.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "profshim/base/problem.h"
#include "value.h"

namespace profshim::spec {

/// Lowest layer first: PROFSHIM_SET, the short variables, the command line.
struct Overrides {
  std::vector<std::vector<Given>> layers;
  std::vector<Problem> problems;
  bool any_variable = false;
};
Overrides read_overrides(const std::vector<std::pair<std::string, std::string>>& environment,
                         const std::vector<std::pair<std::string, std::string>>& options);

}  // namespace profshim::spec
