// [[check.rule]]: the key whose value is a list of tables.
#pragma once

#include <string>
#include <vector>

#include "profshim/spec.h"
#include "spec/value.h"

namespace profshim::spec {

/// Reads a list of rules. Returns false with a message if one is invalid; the whole list is then refused.
bool read_check_rules(const Value& value, std::vector<CheckRule>& rules, Refusal& refusal);
/// Returns the rules as a TOML list of inline tables.
std::string check_rules_to_toml(const std::vector<CheckRule>& rules);

}  // namespace profshim::spec
