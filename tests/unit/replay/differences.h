// Compares two lists of rows, ignoring their order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "expected.h"

namespace profshim::replay {

struct Comparison {
  std::map<std::string, int> equal;      // rows that both have, by category
  std::vector<std::string> differences;  // one sentence each
};
Comparison compare(const Expectation& expected, const Trace& ours, const Dialect& dialect);
/// The first of them, for the message of a test.
std::string first_of(const std::vector<std::string>& differences);

}  // namespace profshim::replay
