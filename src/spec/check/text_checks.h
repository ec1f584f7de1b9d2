// What must hold of a text before it is given to the TOML library, which recurses into brackets and trusts its bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "profshim/base.h"

namespace profshim::spec {

/// The TOML library's time grows with the square of the size: 128 KiB are a fraction of a second, 1 MiB is a minute.
inline constexpr std::size_t kLargestSpec = 128 << 10;

/// Size, UTF-8, control characters, depth of brackets and of dotted keys.
std::optional<Problem> check_text(std::string_view text, const std::string& name);

}  // namespace profshim::spec
