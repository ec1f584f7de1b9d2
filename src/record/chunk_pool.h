// The pool of chunks: free, kept for a window, or without pages. Collector thread only.
#pragma once

#include <cstdint>

namespace profshim::recorder {

/// Makes all `chunks` chunks unused (without pages), for a new spool.
void reset_chunk_pool(std::uint32_t chunks);

}  // namespace profshim::recorder
