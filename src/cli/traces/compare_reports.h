// What `profshim compare` found, for people and for machines.
#pragma once

#include <string>

#include "profshim/analysis/compare.h"

namespace profshim::cli {

/// "3 regressions: 2 counts, 1 time" or "no change".
std::string compare_headline(const Comparison& comparison);
std::string compare_text(const Comparison& comparison);
std::string compare_json(const Comparison& comparison);
std::string compare_markdown(const Comparison& comparison, const std::string& title);
/// A test case for the counts, one for the times, one for each rule, and one for each thing that failed.
std::string compare_junit(const Comparison& comparison);

}  // namespace profshim::cli
