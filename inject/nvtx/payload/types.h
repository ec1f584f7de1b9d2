#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "inject/nvtx/handles.h"

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

/// Sizes of NVTX_PAYLOAD_ENTRY_TYPE_* on 64-bit Linux.
struct TypeSize {
  std::size_t bytes, align;
};

inline TypeSize size_of_type(std::uint64_t type) {
  // Indexed from INVALID (0) to CHAR32 (27).
  static constexpr TypeSize kBasic[] = {
      {0, 1}, {1, 1}, {1, 1}, {2, 2}, {2, 2}, {4, 4}, {4, 4}, {8, 8},   {8, 8}, {8, 8}, {8, 8}, {1, 1}, {1, 1}, {2, 2},
      {2, 2}, {4, 4}, {4, 4}, {8, 8}, {8, 8}, {4, 4}, {8, 8}, {16, 16}, {8, 8}, {8, 8}, {4, 4}, {1, 1}, {2, 2}, {4, 4}};
  if (type < std::size(kBasic)) return kBasic[type];
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_BYTE:
      return {1, 1};
    case NVTX_PAYLOAD_ENTRY_TYPE_INT128:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT128:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128:
      return {16, 16};
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_BF16:
      return {2, 2};
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TF32:
    case NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY:
    case NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB:
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR:
      return {4, 4};
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID:
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32:
    case NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE:
      return {8, 8};
    default:
      return {0, 1};
  }
}

inline std::size_t character_bytes(std::uint64_t type) {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR8:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8:
      return 1;
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR16:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16:
      return 2;
    case NVTX_PAYLOAD_ENTRY_TYPE_WCHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR32:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32:
      return 4;
    default:
      return 0;
  }
}
inline bool is_string(std::uint64_t type) {
  return type >= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING && type <= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32;
}

/// The payload field that is flagged as the event's message. Do not copy: `text` may point into `utf8`.
struct EventMessage {
  std::string_view text;
  char utf8[kMaxString];  // for UTF-16 and UTF-32
};

}  // namespace profshim::nvtx
