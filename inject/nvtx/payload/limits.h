// Bounds of the text of one event's payloads.
#pragma once

#include <cstddef>

namespace profshim::nvtx {

inline constexpr int kMaxDepth = 4;
inline constexpr std::size_t kMaxElements = 64;  // of an array that are shown
inline constexpr std::size_t kMaxString = 1024;  // bytes of a string that are shown
inline constexpr std::size_t kMaxEntries = 256;  // of a schema that are shown
inline constexpr std::size_t kClosing = 64;      // kept free: closing brackets and the mark of what was left out

}  // namespace profshim::nvtx
