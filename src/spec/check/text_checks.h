// Checks a text before the TOML library reads it, since the library recurses into brackets and trusts the bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "profshim/base/problem.h"

namespace profshim::spec {

/// The largest spec. The TOML library's time grows with the square of the size: 128 KiB take a fraction of a second, 1
/// MiB takes a minute.
inline constexpr std::size_t kLargestSpec = 128 << 10;

/// Checks size, UTF-8, control characters, and the depth of brackets and of dotted keys.
std::optional<Problem> check_text(std::string_view text, const std::string& name);

}  // namespace profshim::spec
