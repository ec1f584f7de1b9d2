// Where the fields of a payload are: sizes, alignment and offsets by its schema.
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
  /// A copy of a T at `offset`; false when it lies outside.
  template <class T>
  bool load(std::size_t offset, T& value) const {
    if (offset > size || size - offset < sizeof(T)) return false;
    std::memcpy(&value, data + offset, sizeof value);
    return true;
  }
  Bytes from(std::size_t offset) const { return offset > size ? Bytes{data, 0} : Bytes{data + offset, size - offset}; }
};

inline std::uint64_t array_kind(const nvtxPayloadSchemaEntry_t& entry) { return entry.flags & (7 << 4); }
inline bool is_embedded_array(const nvtxPayloadSchemaEntry_t& entry) {
  return (entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) == 0 &&
         array_kind(entry) == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
}
inline bool is_embedded_string(const nvtxPayloadSchemaEntry_t& entry) {
  return (entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) == 0 && array_kind(entry) == 0 && is_string(entry.type) &&
         entry.arrayOrUnionDetail != 0;
}

class PayloadLayout {
 public:
  explicit PayloadLayout(const Domain& domain) : domain_(domain) {}

  /// Size and alignment of an entry's element.
  void element_of(std::uint64_t type, int depth, std::size_t& bytes, std::size_t& align) const;
  /// Size and alignment of what an entry has in the payload itself: a pointer, characters, or its element.
  void layout_of(const nvtxPayloadSchemaEntry_t& entry, int depth, std::size_t& bytes, std::size_t& align) const;
  bool integer_at(std::uint64_t type, const Bytes& bytes, std::size_t offset, std::uint64_t& value) const;
  /// Elements of an entry, as far as can be known.
  std::size_t length_of(const Schema& schema, const nvtxPayloadSchemaEntry_t& entry, const Bytes& bytes,
                        const std::size_t* offsets, std::size_t i, const Bytes& data, std::size_t element) const;
  /// Bytes that an entry takes in the payload.
  std::size_t extent(const Schema& schema, const nvtxPayloadSchemaEntry_t& entry, const Bytes& bytes,
                     const std::size_t* offsets, std::size_t i, std::size_t element) const;
  /// The entry of that name in a payload of a plain schema.
  bool integer(const nvtxPayloadData_t& data, std::string_view name, std::uint64_t& value) const;

 private:
  const Domain& domain_;
};

}  // namespace profshim::nvtx
