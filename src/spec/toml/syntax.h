// Says where and why a text is not TOML. The releases of the TOML library differ in both; our messages must not.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profshim/base.h"

namespace profshim::spec {

/// The first mistake in the grammar of TOML 1.0. `text` has passed check_text(). Keys that are given twice are left to
/// the library.
std::optional<Problem> check_syntax(std::string_view text, const std::string& name);

/// A problem at a line and a column of the text, both from 1.
Problem syntax_problem(const std::string& name, int line, int column, const std::string& message);

}  // namespace profshim::spec
