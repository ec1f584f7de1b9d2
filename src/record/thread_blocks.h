// One block per recording thread.
#pragma once

#include <cstdint>

#include "profshim/spool/format.h"

namespace profshim::recorder {

/// Destructor of the pthread key `thread_end`.
void on_thread_end(void* block);
/// False without memory.
bool ready_thread_blocks(std::uint32_t threads);
/// For a new spool. No thread may record.
void reset_thread_blocks();

}  // namespace profshim::recorder
