// Parts of the JSON schema of a spec.
#pragma once

#include <string_view>

#include "profshim/json/writer.h"
#include "spec/spec_keys.h"

namespace profshim::spec {

// JSON schemas of single values.

/// Writes the members of a schema object. `may_be_empty`: of a rank expression.
void write_values(JsonWriter& json, const Accepts& accepts, bool may_be_empty = false);

/// Regular expressions without look-around, which ECMAScript, Python and Rust read alike.
std::string_view size_pattern();
std::string_view rank_pattern();
std::string_view step_pattern();

// JSON schemas of the tables [[phase]] and [[check.rule]].

/// Write a schema object.
void write_phase(JsonWriter& json);
void write_check_rule(JsonWriter& json);

/// Writes the condition that a table `schedule` has either a list of steps or keys of a cycle.
void write_list_or_cycle(JsonWriter& json);

}  // namespace profshim::spec
