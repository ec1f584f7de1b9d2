// Calls and operations in flight.
#pragma once

#include <cstdint>

namespace profshim::recorder {

/// False without memory.
bool create_pending_slots(std::uint32_t slots);

}  // namespace profshim::recorder
