#pragma once

#include <cstddef>
#include <string_view>

namespace profshim::nvtx {

inline constexpr int kMaxDepth = 4;              // nested schemas
inline constexpr std::size_t kMaxPayloads = 16;  // of one event
inline constexpr std::size_t kMaxElements = 64;  // of an array
inline constexpr std::size_t kMaxString = 1024;  // bytes
inline constexpr std::size_t kMaxEntries = 256;  // of a schema; a larger schema is rendered without entries

inline constexpr std::string_view kTruncated = "\"...\":true";
/// JSON bytes reserved for end_object().
inline constexpr std::size_t kClosing = 64;
// At worst, every level ends with a comma, kTruncated and a bracket.
static_assert((kMaxDepth + 1) * (kTruncated.size() + 2) <= kClosing);

}  // namespace profshim::nvtx
