// Each recording thread claims a block (spool::Thread) in the spool.
#pragma once

#include <cstdint>

#include "profshim/spool/format.h"

namespace profshim::recorder {

/// Destructor of the pthread key State::thread_end.
void on_thread_end(void* block);
/// Gives pages to `threads` blocks. Returns false without memory.
bool ready_thread_blocks(std::uint32_t threads);
void reset_thread_blocks();

}  // namespace profshim::recorder
