// What must hold of a text before it is given to the TOML library, which recurses into brackets and trusts its bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profshim/base.h"

namespace profshim::spec {

/// Size, UTF-8, control characters, depth of brackets and of dotted keys.
std::optional<Problem> check_text(std::string_view text, const std::string& name);

}  // namespace profshim::spec
