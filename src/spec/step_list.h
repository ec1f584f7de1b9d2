// Lists of steps: [1, 2, "5-7", "10-12,50"], both ends included.
#pragma once

#include <string>
#include <vector>

#include "profshim/window.h"
#include "value.h"

namespace profshim::spec {

bool read_steps(const Value& value, std::vector<StepRange>& out, Refusal& refusal);
/// Merges ranges that touch: with schedule.continuous, they share a window.
void merge_adjacent(std::vector<StepRange>& ranges);
std::vector<StepRange> intersect(const std::vector<StepRange>& a, const std::vector<StepRange>& b);
std::string steps_to_toml(const std::vector<StepRange>& ranges);
Value steps_to_value(const std::vector<StepRange>& ranges);

}  // namespace profshim::spec
