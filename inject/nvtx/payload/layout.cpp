#include "layout.h"

#include <algorithm>

#include "limits.h"
#include "render.h"
#include "types.h"

namespace profshim::nvtx {

void PayloadLayout::element_of(std::uint64_t type, int depth, std::size_t& bytes, std::size_t& align) const {
  const TypeSize basic = size_of_type(type);
  bytes = basic.bytes;
  align = basic.align;
  const Schema* const schema = bytes == 0 && depth > 0 ? find_schema(domain_, type) : nullptr;
  if (schema == nullptr) return;
  bytes = schema->static_size;
  if (schema->values != nullptr) {
    align = std::max<std::size_t>(bytes, 1);
    return;
  }
  std::size_t end = 0;
  for (std::size_t i = 0; i < schema->count; ++i) {
    std::size_t inner = 0, inner_align = 1;
    layout_of(schema->entries[i], depth - 1, inner, inner_align);
    align = std::max(align, inner_align);
    if (is_embedded_array(schema->entries[i]) || is_embedded_string(schema->entries[i]))
      inner *= schema->entries[i].arrayOrUnionDetail;
    end = std::max((end + inner_align - 1) / inner_align * inner_align, schema->entries[i].offset) + inner;
  }
  if (bytes == 0) bytes = (end + align - 1) / align * align;
}

void PayloadLayout::layout_of(const nvtxPayloadSchemaEntry_t& entry, int depth, std::size_t& bytes,
                              std::size_t& align) const {
  element_of(entry.type, depth, bytes, align);
  if ((entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) != 0)
    bytes = align = sizeof(void*);
  else if (is_string(entry.type) && (array_kind(entry) != 0 || entry.arrayOrUnionDetail != 0)) {
    bytes = align = character_bytes(entry.type);
  }
}

bool PayloadLayout::integer_at(std::uint64_t type, const Bytes& bytes, std::size_t offset, std::uint64_t& value) const {
  std::size_t size = 0, align = 1;
  element_of(type, 1, size, align);
  if (size == 0 || size > 8 || offset > bytes.size || bytes.size - offset < size) return false;
  value = 0;
  std::memcpy(&value, bytes.data + offset, size);
  return true;
}

std::size_t PayloadLayout::length_of(const Schema& schema, const nvtxPayloadSchemaEntry_t& entry, const Bytes& bytes,
                                     const std::size_t* offsets, std::size_t i, const Bytes& data,
                                     std::size_t element) const {
  switch (array_kind(entry)) {
    case NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE:
      return entry.arrayOrUnionDetail;
    case NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX: {
      std::uint64_t length = 0;
      const std::uint64_t at = entry.arrayOrUnionDetail;
      if (at < i) integer_at(schema.entries[at].type, bytes, offsets[at], length);
      return length;
    }
    case NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED: {
      std::size_t n = 0;
      static constexpr std::uint8_t kZero[16] = {};
      while (element != 0 && element <= 16 && n < kMaxString && (n + 1) * element <= data.size &&
             std::memcmp(data.data + n * element, kZero, element) != 0) {
        ++n;
      }
      return n;
    }
    default:
      return 1;
  }
}

std::size_t PayloadLayout::extent(const Schema& schema, const nvtxPayloadSchemaEntry_t& entry, const Bytes& bytes,
                                  const std::size_t* offsets, std::size_t i, std::size_t element) const {
  if ((entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) != 0) return element;
  const std::uint64_t kind = array_kind(entry);
  std::size_t one =
      is_string(entry.type) && (kind != 0 || entry.arrayOrUnionDetail != 0) ? character_bytes(entry.type) : element;
  std::size_t n = length_of(schema, entry, bytes, offsets, i, bytes.from(offsets[i]), one);
  if (is_string(entry.type) && kind == 0 && entry.arrayOrUnionDetail != 0) n = entry.arrayOrUnionDetail;
  if (kind == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED) ++n;
  return n > bytes.size ? bytes.size : n * one;
}

bool PayloadLayout::integer(const nvtxPayloadData_t& data, std::string_view name, std::uint64_t& value) const {
  const Schema* const schema = find_schema(domain_, data.schemaId);
  if (schema == nullptr || schema->values != nullptr || data.payload == nullptr) return false;
  const Bytes bytes{static_cast<const std::uint8_t*>(data.payload),
                    data.size == SIZE_MAX ? schema->static_size : data.size};
  std::size_t cursor = 0;
  for (std::size_t i = 0; i < schema->count; ++i) {
    const nvtxPayloadSchemaEntry_t& entry = schema->entries[i];
    std::size_t size = 0, align = 1;
    layout_of(entry, kMaxDepth, size, align);
    if (schema->pack != 0) align = std::min(align, schema->pack);
    const std::size_t offset = entry.offset != 0 ? entry.offset : (cursor + align - 1) / align * align;
    if (name == entry.name) return integer_at(entry.type, bytes, offset, value);
    cursor = offset + size;
  }
  return false;
}

bool integer_in(const Domain& domain, const nvtxPayloadData_t& payload, std::string_view entry, std::uint64_t& value) {
  return PayloadLayout(domain).integer(payload, entry, value);
}

}  // namespace profshim::nvtx
