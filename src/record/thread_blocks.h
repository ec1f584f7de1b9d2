// The blocks of the spool, one for each thread that records.
#pragma once

#include <cstdint>

#include "profshim/spool/format.h"

namespace profshim::recorder {

/// Frees the block of a thread that ends. Destructor of the pthread key `thread_end`.
void on_thread_end(void* block);
/// Gives the first `threads` blocks pages. Returns false if there is no memory.
bool ready_thread_blocks(std::uint32_t threads);
/// Forgets all blocks, for a new spool. No thread may record.
void reset_thread_blocks();

}  // namespace profshim::recorder
