// [[check.rule]]: the entries of the one list of tables.
#pragma once

#include <string>
#include <vector>

#include "profshim/spec.h"
#include "spec/value.h"

namespace profshim::spec {

/// False with a message when one of them is none: the whole list is then refused.
bool read_check_rules(const Value& value, std::vector<CheckRule>& rules, Refusal& refusal);
/// As a list of inline tables.
std::string check_rules_to_toml(const std::vector<CheckRule>& rules);

}  // namespace profshim::spec
