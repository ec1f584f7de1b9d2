// How the values of several files meet.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profshim/base.h"
#include "value.h"

namespace profshim::spec {

enum class CombineMode : std::uint8_t { kOverride, kUnion, kIntersection };

/// What is in force so far, by key. Only values that their keys accept get in here.
using Settings = std::map<std::string, Given>;

/// Puts `later` over `settings`. A list of steps and a cycle replace each other; both in one layer are a problem.
void apply(Settings& settings, const std::vector<Given>& later, CombineMode mode, std::vector<Problem>& problems);

}  // namespace profshim::spec
