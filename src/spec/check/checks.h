#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/base/problem.h"
#include "profshim/spec.h"
#include "spec/combine.h"
#include "spec/value.h"

namespace profshim::spec {

// Checks a text before it goes to the TOML library, which recurses into brackets and trusts the bytes.

/// The TOML library's time grows with the square of the size: 1 MiB takes a minute.
inline constexpr std::size_t kLargestSpec = 128 << 10;

std::optional<Problem> check_text(std::string_view text, const std::string& name);

void check_whole(const Spec& spec, const Settings& settings, std::vector<Problem>& problems);

/// Stores no rule if one is invalid.
bool read_check_rules(const Value& value, std::vector<CheckRule>& rules, Refusal& refusal);
std::string check_rules_to_toml(const std::vector<CheckRule>& rules);

}  // namespace profshim::spec
