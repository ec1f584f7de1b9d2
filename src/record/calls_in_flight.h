// Calls and operations that have begun and not ended.
#pragma once

#include <cstdint>

namespace profshim::recorder {

/// Makes the free list of `slots` pending slots, in anonymous memory. False when there is none.
bool create_pending_slots(std::uint32_t slots);

}  // namespace profshim::recorder
