#pragma once

#include <string>

#include "profshim/analysis/compare.h"

namespace profshim::cli {

std::string compare_headline(const Comparison& comparison);
std::string compare_text(const Comparison& comparison);
std::string compare_json(const Comparison& comparison);
std::string compare_markdown(const Comparison& comparison, const std::string& title);
/// Has a test case per rule and per regression. If no count regressed, one test case covers all counts; likewise for
/// times.
std::string compare_junit(const Comparison& comparison);

}  // namespace profshim::cli
