// Checks tokens of TOML: numbers, dates, booleans.
#pragma once

#include <string>
#include <string_view>

namespace profshim::spec {

/// Returns why `token` is no boolean, number, date or time; empty if it is one.
std::string check_scalar(std::string_view token);

}  // namespace profshim::spec
