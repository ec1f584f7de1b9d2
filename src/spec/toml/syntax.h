// Finds mistakes of TOML syntax. The releases of the TOML library report them differently; our messages must not
// differ.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profshim/base/problem.h"

namespace profshim::spec {

/// Returns the first mistake in the grammar of TOML 1.0. `text` must have passed check_text(). The library finds keys
/// that are given twice.
std::optional<Problem> check_syntax(std::string_view text, const std::string& name);

/// A problem at a line and a column of the text, both from 1.
Problem syntax_problem(const std::string& name, int line, int column, const std::string& message);

}  // namespace profshim::spec
