// The pool of chunks: gives chunks memory, frees them, returns memory. Runs on the collector thread.
#pragma once

#include <cstdint>

namespace profshim::recorder {

/// Begins a new spool: no chunk has pages.
void reset_chunk_pool(std::uint32_t chunks);

}  // namespace profshim::recorder
