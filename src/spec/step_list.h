// Lists of steps: [1, 2, "5-7", "10-12,50"]. Ranges include both ends.
#pragma once

#include <string>
#include <vector>

#include "profshim/window.h"
#include "value.h"

namespace profshim::spec {

/// Sorts the ranges and joins those that overlap.
bool read_steps(const Value& value, std::vector<StepRange>& out, Refusal& refusal);
/// Joins ranges that touch: with schedule.continuous they share a window.
void merge_adjacent(std::vector<StepRange>& ranges);
std::vector<StepRange> intersect(const std::vector<StepRange>& a, const std::vector<StepRange>& b);
/// Returns the list as TOML: "[1, \"5-7\"]".
std::string steps_to_toml(const std::vector<StepRange>& ranges);
Value steps_to_value(const std::vector<StepRange>& ranges);

}  // namespace profshim::spec
