// JSON schemas of the tables [[phase]] and [[check.rule]].
#pragma once

#include "profshim/json/writer.h"

namespace profshim::spec {

/// Write a schema object.
void write_phase(JsonWriter& json);
void write_check_rule(JsonWriter& json);

/// Writes the condition that a table `schedule` has either a list of steps or keys of a cycle.
void write_list_or_cycle(JsonWriter& json);

}  // namespace profshim::spec
