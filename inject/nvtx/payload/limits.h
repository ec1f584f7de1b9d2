// Limits on the rendered text of one event's payloads.
#pragma once

#include <cstddef>
#include <string_view>

namespace profshim::nvtx {

inline constexpr int kMaxDepth = 4;              // nested schemas
inline constexpr std::size_t kMaxPayloads = 16;  // payloads of one event
inline constexpr std::size_t kMaxElements = 64;  // elements of an array
inline constexpr std::size_t kMaxString = 1024;  // bytes of a string
inline constexpr std::size_t kMaxEntries = 256;  // a schema with more entries is rendered without any of them

inline constexpr std::string_view kTruncated = "\"...\":true";
/// Bytes at the end of the buffer that only closing brackets and kTruncated may use.
inline constexpr std::size_t kClosing = 64;
// At worst the outer object and every nested schema end with a comma, kTruncated and a bracket.
static_assert((kMaxDepth + 1) * (kTruncated.size() + 2) <= kClosing);

}  // namespace profshim::nvtx
