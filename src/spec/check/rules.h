#pragma once

#include <string>
#include <vector>

#include "profshim/spec.h"
#include "spec/value.h"

namespace profshim::spec {

/// Stores no rule if one is invalid.
bool read_check_rules(const Value& value, std::vector<CheckRule>& rules, Refusal& refusal);
std::string check_rules_to_toml(const std::vector<CheckRule>& rules);

}  // namespace profshim::spec
