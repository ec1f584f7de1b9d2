// Calls and operations that have begun and have not ended.
#pragma once

#include <cstdint>

namespace profshim::recorder {

/// Creates the free list of the `slots` pending slots. Returns false if there is no memory.
bool create_pending_slots(std::uint32_t slots);

}  // namespace profshim::recorder
