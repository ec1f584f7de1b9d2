// The pool of chunks. Collector thread.
#pragma once

#include <cstdint>

namespace profshim::recorder {

/// Without pages, for a new spool.
void reset_chunk_pool(std::uint32_t chunks);

}  // namespace profshim::recorder
