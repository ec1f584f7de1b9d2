#pragma once

#include <cstdint>
#include <span>

#include "profshim/spool/format.h"

namespace profshim::recorder {

/// Gives pages to the first definitions. Returns false without memory.
bool ready_first_definitions();
void reset_definitions();
std::uint64_t definitions_made();
/// Adds those that hooks do not repeat.
void adopt_definitions(std::span<const spool::Definition> parents);

}  // namespace profshim::recorder
