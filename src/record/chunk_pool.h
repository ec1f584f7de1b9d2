// Which chunks are ready, kept for a window, or without pages: collector thread only.
#pragma once

#include <cstdint>

namespace profshim::recorder {

void reset_chunk_pool(std::uint32_t chunks);

}  // namespace profshim::recorder
