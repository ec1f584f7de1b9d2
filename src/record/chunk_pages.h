#pragma once

#include <cstdint>

namespace profshim::recorder {

/// For a new spool.
void reset_chunk_pool(std::uint32_t chunks);

}  // namespace profshim::recorder
