// Keys that set nothing, because profshim does one thing always or never. A spec that says so is valid, with a warning.
#pragma once

#include <string_view>

#include "value.h"

namespace profshim::spec {

struct RetiredKey {
  std::string_view key;
  /// Returns false for a value that profshim does not do.
  bool (*is_true)(const Value& value, Refusal& refusal);
  const char* why;   // the warning
  const char* hint;  // what to do
};

/// Returns nullptr for other keys.
const RetiredKey* find_retired(std::string_view key);
/// True for a table in which all keys are retired.
bool is_retired_table(std::string_view name);

}  // namespace profshim::spec
