#pragma once

#include <vector>

#include "profshim/spec.h"
#include "spec/combine.h"

namespace profshim::spec {

void check_whole(const Spec& spec, const Settings& settings, std::vector<Problem>& problems);

}  // namespace profshim::spec
