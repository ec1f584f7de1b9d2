// Slots of pending operations, which may end on another thread.
#pragma once

#include <cstdint>

namespace profshim::recorder {

/// Returns false without memory.
bool create_pending_slots(std::uint32_t slots);

}  // namespace profshim::recorder
