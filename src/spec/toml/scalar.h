#pragma once

#include <string>
#include <string_view>

namespace profshim::spec {

/// Returns why `token` is not a boolean, number, date or time, or "".
std::string check_scalar(std::string_view token);

}  // namespace profshim::spec
