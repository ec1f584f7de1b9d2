// Finds TOML syntax mistakes: the library's releases report them differently.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profshim/base/problem.h"

namespace profshim::spec {

/// Checks for TOML 1.0, except for duplicate keys. Requires a `text` that passed check_text().
std::optional<Problem> check_syntax(std::string_view text, const std::string& name);

Problem syntax_problem(const std::string& name, int line, int column, const std::string& message);

/// Returns why `token` is not a boolean, number, date or time, or "".
std::string check_scalar(std::string_view token);

}  // namespace profshim::spec
