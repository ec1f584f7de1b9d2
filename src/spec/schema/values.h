// JSON schemas of single values.
#pragma once

#include <string_view>

#include "profshim/json/writer.h"
#include "spec/spec_keys.h"

namespace profshim::spec {

/// Writes the members of a schema object. `may_be_empty`: of a rank expression.
void write_values(JsonWriter& json, const Accepts& accepts, bool may_be_empty = false);

/// Regular expressions without look-around, which ECMAScript, Python and Rust read alike.
std::string_view size_pattern();
std::string_view rank_pattern();
std::string_view step_pattern();

}  // namespace profshim::spec
