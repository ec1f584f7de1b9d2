#include "layout.h"

#include <algorithm>

#include "types.h"

namespace profshim::nvtx {
namespace {

std::size_t align_up(std::size_t offset, std::size_t align) { return (offset + align - 1) / align * align; }

std::size_t packed(const Schema& schema, std::size_t align) {
  return schema.pack != 0 ? std::min(align, schema.pack) : align;
}

std::size_t embedded_count(const nvtxPayloadSchemaEntry_t& entry) {
  if (is_pointer(entry)) return 1;
  const std::uint64_t kind = array_kind(entry);
  const bool has_count = kind == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE || (kind == 0 && is_sized_string(entry));
  return has_count ? entry.arrayOrUnionDetail : 1;
}

std::size_t length_up_to_zero(const Bytes& data, std::size_t element) {
  static constexpr std::uint8_t kZero[16] = {};
  std::size_t length = 0;
  while (element != 0 && element <= sizeof kZero && length < kMaxString && (length + 1) * element <= data.size &&
         std::memcmp(data.data + length * element, kZero, element) != 0) {
    ++length;
  }
  return length;
}

}  // namespace

TypeSize PayloadLayout::type_size(std::uint64_t type, int depth) const {
  TypeSize size = size_of_type(type);
  const Schema* const schema = size.bytes == 0 && depth > 0 ? find_schema(domain_, type) : nullptr;
  if (schema == nullptr) return size;
  size.bytes = schema->static_size;
  if (schema->values != nullptr) return {size.bytes, std::max<std::size_t>(size.bytes, 1)};
  std::size_t end = 0;
  for (std::size_t i = 0; i < schema->count; ++i) {
    const nvtxPayloadSchemaEntry_t& entry = schema->entries[i];
    const TypeSize inner = entry_size(entry, depth - 1);
    const std::size_t align = packed(*schema, inner.align);
    size.align = std::max(size.align, align);
    const std::size_t begin = is_union(*schema) ? entry.offset : std::max(align_up(end, align), entry.offset);
    end = std::max(end, begin + inner.bytes * embedded_count(entry));
  }
  if (size.bytes == 0) size.bytes = align_up(end, size.align);
  return size;
}

TypeSize PayloadLayout::entry_size(const nvtxPayloadSchemaEntry_t& entry, int depth) const {
  if (is_pointer(entry)) return {sizeof(void*), sizeof(void*)};
  if (is_sized_string(entry)) return {character_bytes(entry.type), character_bytes(entry.type)};
  return type_size(entry.type, depth);
}

std::size_t PayloadLayout::entry_offset(const Schema& schema, const nvtxPayloadSchemaEntry_t& entry, std::size_t align,
                                        std::size_t cursor) {
  if (entry.offset != 0) return entry.offset;
  return align_up(cursor, packed(schema, align));
}

std::size_t PayloadLayout::entry_bytes(const Structure& structure, std::size_t i, std::size_t element) const {
  const nvtxPayloadSchemaEntry_t& entry = structure.schema.entries[i];
  if (is_pointer(entry)) return element;
  const std::uint64_t kind = array_kind(entry);
  std::size_t count = entry.arrayOrUnionDetail;
  if (kind != 0 || !is_sized_string(entry)) {
    count = array_length(structure, i, structure.bytes.rest(structure.offsets[i]), element);
  }
  if (kind == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED) ++count;
  return count > structure.bytes.size ? structure.bytes.size : count * element;
}

std::size_t PayloadLayout::array_length(const Structure& structure, std::size_t i, const Bytes& data,
                                        std::size_t element) const {
  const nvtxPayloadSchemaEntry_t& entry = structure.schema.entries[i];
  switch (array_kind(entry)) {
    case NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE:
      return entry.arrayOrUnionDetail;
    case NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX: {
      std::uint64_t length = 0;
      const std::uint64_t at = entry.arrayOrUnionDetail;
      if (at < i) read_integer(structure.schema.entries[at].type, structure.bytes, structure.offsets[at], length);
      return length;
    }
    case NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED:
      return length_up_to_zero(data, element);
    default:
      return 1;
  }
}

bool PayloadLayout::read_integer(std::uint64_t type, const Bytes& bytes, std::size_t offset,
                                 std::uint64_t& value) const {
  const std::size_t size = type_size(type, 1).bytes;
  if (size == 0 || size > sizeof value || offset > bytes.size || bytes.size - offset < size) return false;
  value = 0;
  std::memcpy(&value, bytes.data + offset, size);
  return true;
}

bool PayloadLayout::find_integer(const nvtxPayloadData_t& payload, std::string_view name, std::uint64_t& value) const {
  const Schema* const schema = find_schema(domain_, payload.schemaId);
  if (schema == nullptr || schema->values != nullptr || payload.payload == nullptr) return false;
  const Bytes bytes{static_cast<const std::uint8_t*>(payload.payload),
                    payload.size == SIZE_MAX ? schema->static_size : payload.size};
  std::size_t cursor = 0;
  for (std::size_t i = 0; i < schema->count; ++i) {
    const nvtxPayloadSchemaEntry_t& entry = schema->entries[i];
    const TypeSize size = entry_size(entry, kMaxDepth);
    const std::size_t offset = entry_offset(*schema, entry, size.align, cursor);
    if (name == entry.name) return read_integer(entry.type, bytes, offset, value);
    cursor = offset + size.bytes;
  }
  return false;
}

}  // namespace profshim::nvtx
