// The result of `profshim compare` as text, JSON, Markdown and JUnit.
#pragma once

#include <string>

#include "profshim/analysis/compare.h"

namespace profshim::cli {

/// Returns for example "3 regressions: 2 counts, 1 time" or "no regression".
std::string compare_headline(const Comparison& comparison);
std::string compare_text(const Comparison& comparison);
std::string compare_json(const Comparison& comparison);
std::string compare_markdown(const Comparison& comparison, const std::string& title);
/// Returns one test case for each rule and each regression, and one for all counts and one for all times without any.
std::string compare_junit(const Comparison& comparison);

}  // namespace profshim::cli
