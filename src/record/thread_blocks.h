// The blocks of the spool that hold a thread each.
#pragma once

#include <cstdint>

#include "profshim/spool.h"

namespace profshim::recorder {

/// Destructor of the thread-specific key.
void on_thread_end(void* block);
/// Gives `threads` blocks pages.
bool ready_thread_blocks(std::uint32_t threads);
void reset_thread_blocks();

}  // namespace profshim::recorder
