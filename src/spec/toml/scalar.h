// Numbers, dates and words of TOML: is this token one?
#pragma once

#include <string>
#include <string_view>

namespace profshim::spec {

/// Why `token` is no boolean, number, date or time; empty if it is one.
std::string check_scalar(std::string_view token);

}  // namespace profshim::spec
