#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "inject/nvtx/handles.h"
#include "types.h"

namespace profshim::nvtx {

struct Bytes {
  const std::uint8_t* data;
  std::size_t size;
  template <class T>
  bool load(std::size_t offset, T& value) const {
    if (offset > size || size - offset < sizeof(T)) return false;
    std::memcpy(&value, data + offset, sizeof value);
    return true;
  }
  Bytes rest(std::size_t offset) const { return offset > size ? Bytes{data, 0} : Bytes{data + offset, size - offset}; }
};

/// `offsets`: set for entries up to the one being read.
struct Structure {
  const Schema& schema;
  const Bytes& bytes;
  const std::size_t* offsets;
};

inline bool is_union(const Schema& schema) {
  return schema.type == NVTX_PAYLOAD_SCHEMA_TYPE_UNION ||
         schema.type == NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR;
}
inline bool is_pointer(const nvtxPayloadSchemaEntry_t& entry) {
  return (entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) != 0;
}
inline std::uint64_t array_kind(const nvtxPayloadSchemaEntry_t& entry) { return entry.flags & (7 << 4); }
/// True if the payload contains the array of characters, not its address.
inline bool is_sized_string(const nvtxPayloadSchemaEntry_t& entry) {
  return is_string(entry.type) && (array_kind(entry) != 0 || entry.arrayOrUnionDetail != 0);
}

class PayloadLayout {
 public:
  explicit PayloadLayout(const Domain& domain) : domain_(domain) {}

  TypeSize type_size(std::uint64_t type, int depth) const;
  /// Returns the size of one element, also for arrays.
  TypeSize entry_size(const nvtxPayloadSchemaEntry_t& entry, int depth) const;
  /// `cursor` is the end of the previous entry.
  static std::size_t entry_offset(const Schema& schema, const nvtxPayloadSchemaEntry_t& entry, std::size_t align,
                                  std::size_t cursor);
  std::size_t entry_bytes(const Structure& structure, std::size_t i, std::size_t element) const;
  /// Returns 0 if the length is in an invalid or later entry.
  std::size_t array_length(const Structure& structure, std::size_t i, const Bytes& data, std::size_t element) const;

  /// Zero-extends 1 to 8 bytes. Returns false for other sizes and out of bounds.
  bool read_integer(std::uint64_t type, const Bytes& bytes, std::size_t offset, std::uint64_t& value) const;
  /// Only for schemas of scalars, such as NCCL's.
  bool find_integer(const nvtxPayloadData_t& payload, std::string_view name, std::uint64_t& value) const;

 private:
  const Domain& domain_;
};

}  // namespace profshim::nvtx
