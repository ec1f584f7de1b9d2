// Runs on the collector thread, and once before it starts.
#pragma once

#include <cstdint>

namespace profshim::recorder {

void reset_chunk_pool(std::uint32_t chunks);

}  // namespace profshim::recorder
