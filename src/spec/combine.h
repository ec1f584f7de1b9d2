#pragma once

#include <map>
#include <string>
#include <vector>

#include "profshim/base/problem.h"
#include "value.h"

namespace profshim::spec {

enum class CombineMode : std::uint8_t { kOverride, kUnion, kIntersection };

using Settings = std::map<std::string, Given>;

/// Adds a layer, the keys of one source. A list of steps and a cycle (schedule.wait, ...) replace each other: no layer
/// may have both.
void apply(Settings& settings, const std::vector<Given>& later, CombineMode mode, std::vector<Problem>& problems);

}  // namespace profshim::spec
