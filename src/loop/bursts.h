#pragma once

#include <cstddef>
#include <vector>

#include "profshim/loop.h"

namespace profshim::loop {

/// Returns how many of equal calls follow each other without a long gap, if it is always the same number; else 1.
std::size_t calls_in_burst(const std::vector<Call>& equal);

}  // namespace profshim::loop
