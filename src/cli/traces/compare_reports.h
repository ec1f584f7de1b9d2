#pragma once

#include <string>

#include "profshim/analysis/compare.h"

namespace profshim::cli {

std::string compare_headline(const Comparison& comparison);
std::string compare_text(const Comparison& comparison);
std::string compare_json(const Comparison& comparison);
std::string compare_markdown(const Comparison& comparison, const std::string& title);
/// Has a test case per rule, regression and undecided change, and one for all counts or times without such changes.
std::string compare_junit(const Comparison& comparison);

}  // namespace profshim::cli
