// Checks a text before it goes to the TOML library, which recurses into brackets and trusts the bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "profshim/base/problem.h"

namespace profshim::spec {

/// The TOML library's time grows with the square of the size: 1 MiB takes a minute.
inline constexpr std::size_t kLargestSpec = 128 << 10;

std::optional<Problem> check_text(std::string_view text, const std::string& name);

}  // namespace profshim::spec
