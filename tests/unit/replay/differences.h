#pragma once

#include <map>
#include <string>
#include <vector>

#include "expected.h"

namespace profshim::replay {

struct Comparison {
  std::map<std::string, int> equal;
  std::vector<std::string> differences;
};
Comparison compare(const Expectation& expected, const Trace& ours, const Dialect& dialect);
std::string first_of(const std::vector<std::string>& differences);

}  // namespace profshim::replay
