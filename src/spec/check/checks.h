// What keys demand of each other.
#pragma once

#include <vector>

#include "profshim/spec.h"
#include "spec/combine.h"

namespace profshim::spec {

/// Problems of the whole, each at the place of the key that has to change.
void check_whole(const Spec& spec, const Settings& settings, std::vector<Problem>& problems);

}  // namespace profshim::spec
