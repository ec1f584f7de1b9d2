#include "render.h"

#include <algorithm>

#include "json_text.h"
#include "layout.h"
#include "scalars.h"
#include "types.h"

namespace profshim::nvtx {
namespace {

bool is_message(const nvtxPayloadSchemaEntry_t& entry) {
  return (entry.flags & (3 << 10)) == NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE;
}

/// write_field() returns false if the field does not fit, other functions if the value is missing, out of bounds or
/// nested too deeply.
class Renderer {
 public:
  Renderer(const Domain& domain, JsonText& json, EventMessage& message)
      : domain_(domain), layout_(domain), json_(json), scalars_(json, message) {}

  bool can_render(const nvtxPayloadData_t& payload) const {
    if (payload.schemaId == NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED) return false;
    return payload.schemaId == NVTX_TYPE_PAYLOAD_SCHEMA_RAW || size_of_type(payload.schemaId).bytes != 0 ||
           find_schema(domain_, payload.schemaId) != nullptr;
  }

  bool write_payload(const nvtxPayloadData_t& payload) {
    const Schema* const schema = find_schema(domain_, payload.schemaId);
    std::size_t size = payload.size;
    if (size == SIZE_MAX) size = schema != nullptr ? schema->static_size : size_of_type(payload.schemaId).bytes;
    const Bytes bytes{static_cast<const std::uint8_t*>(payload.payload), payload.payload == nullptr ? 0 : size};
    if (schema != nullptr) return write_schema(*schema, bytes, kMaxDepth, 0);
    if (payload.schemaId == NVTX_TYPE_PAYLOAD_SCHEMA_RAW) {
      json_.hex(bytes.data, std::min(bytes.size, kMaxElements), false);
      return true;
    }
    if (is_string(payload.schemaId)) return write_text_payload(payload);
    const std::size_t element = size_of_type(payload.schemaId).bytes;
    if (element == 0) return false;
    const std::size_t count = bytes.size / element;
    if (count == 1) return scalars_.write(payload.schemaId, bytes, false);
    return write_array(payload.schemaId, element, bytes, count, kMaxDepth);
  }

 private:
  /// A C string payload is the text, not its address. NVTX's header allows strlen() if payload.size is SIZE_MAX.
  bool write_text_payload(const nvtxPayloadData_t& payload) {
    if (payload.payload == nullptr) return false;
    const std::size_t width = character_bytes(payload.schemaId);
    const std::size_t count = payload.size == SIZE_MAX ? kMaxString + 1 : payload.size / width;
    scalars_.write_text({static_cast<const std::uint8_t*>(payload.payload), payload.size}, width, count, false);
    return true;
  }

  /// `selected`: index of the member to write, for a union without an internal selector.
  bool write_schema(const Schema& schema, const Bytes& bytes, int depth, std::uint64_t selected) {
    if (schema.values != nullptr) return scalars_.write_enum(schema, bytes);
    if (depth == 0) return false;
    std::size_t offsets[kMaxEntries];
    const Structure structure{schema, bytes, offsets};
    std::size_t cursor = 0;
    bool is_empty = true, is_complete = schema.count <= kMaxEntries;
    json_.raw("{");
    if (!json_.fits()) return false;
    for (std::size_t i = 0; is_complete && i < schema.count; ++i) {
      const nvtxPayloadSchemaEntry_t& entry = schema.entries[i];
      const TypeSize size = layout_.entry_size(entry, depth);
      if (is_union(schema)) cursor = 0;
      offsets[i] = PayloadLayout::entry_offset(schema, entry, size.align, cursor);
      cursor = offsets[i] + layout_.entry_bytes(structure, i, size.bytes);
      if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR) {
        layout_.read_integer(entry.type, bytes, offsets[i], selected);
      }
      if ((entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_HIDE) != 0 || (is_union(schema) && i != selected)) continue;
      is_complete = write_field(structure, i, size.bytes, depth, is_empty);
    }
    json_.end_object(is_empty, is_complete);
    return true;
  }

  bool write_field(const Structure& structure, std::size_t i, std::size_t element, int depth, bool& is_empty) {
    const nvtxPayloadSchemaEntry_t& entry = structure.schema.entries[i];
    char* const start = json_.position();
    if (!is_empty) json_.raw(",");
    if (entry.name[0] != '\0') {
      json_.string(entry.name);
    } else {
      json_.raw("\"");
      json_.number(i);
      json_.raw("\"");
    }
    json_.raw(":");
    if (json_.fits() && !write_value(structure, i, element, depth)) json_.raw("null");
    if (!json_.fits()) {
      json_.rewind(start);
      return false;
    }
    is_empty = false;
    return true;
  }

  /// Where a value lies: outside its entry if the entry is a pointer or an offset.
  struct Place {
    Bytes data;
    std::size_t element;
    bool is_bounded = true;  // false behind a pointer: only the schema limits the read
  };
  bool find_place(const Structure& structure, std::size_t i, int depth, Place& place) const {
    const nvtxPayloadSchemaEntry_t& entry = structure.schema.entries[i];
    if (is_pointer(entry)) {
      const std::uint8_t* target = nullptr;
      if (!place.data.load(0, target) || target == nullptr) return false;
      place = {{target, SIZE_MAX}, layout_.type_size(entry.type, depth).bytes, false};
      return true;
    }
    constexpr auto kFromBase = NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE;
    if ((entry.flags & (kFromBase | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE)) == 0) return true;
    std::uint64_t distance = 0;
    if (!layout_.read_integer(entry.type, structure.bytes, structure.offsets[i], distance)) return false;
    place.data =
        (entry.flags & kFromBase) != 0 ? structure.bytes.rest(distance) : place.data.rest(distance + place.element);
    return true;
  }

  bool write_value(const Structure& structure, std::size_t i, std::size_t element, int depth) {
    const nvtxPayloadSchemaEntry_t& entry = structure.schema.entries[i];
    Place place{structure.bytes.rest(structure.offsets[i]), element};
    if (!find_place(structure, i, depth, place)) return false;
    const std::uint64_t kind = array_kind(entry);
    if (is_string(entry.type) && !is_sized_string(entry)) return write_c_string(entry, place);
    const std::size_t width = character_bytes(entry.type);
    if (width != 0 && (kind != 0 || is_string(entry.type))) {
      const std::size_t count =
          kind == 0 ? entry.arrayOrUnionDetail : layout_.array_length(structure, i, place.data, width);
      scalars_.write_text(place.data, width, bounded(count, width, place), is_message(entry));
      return true;
    }
    if (kind == 0) return write_single(structure, i, place, depth);
    if (place.element == 0) return false;
    const std::size_t count = layout_.array_length(structure, i, place.data, place.element);
    return write_array(entry.type, place.element, place.data, bounded(count, place.element, place), depth);
  }

  static std::size_t bounded(std::size_t count, std::size_t element, const Place& place) {
    return place.is_bounded ? std::min(count, place.data.size / element) : count;
  }

  /// If the entry is a pointer, find_place() has already followed it.
  bool write_c_string(const nvtxPayloadSchemaEntry_t& entry, const Place& place) {
    const std::uint8_t* target = place.data.data;
    if (place.is_bounded && (!place.data.load(0, target) || target == nullptr)) return false;
    scalars_.write_text({target, SIZE_MAX}, character_bytes(entry.type), kMaxString + 1, is_message(entry));
    return true;
  }

  bool write_single(const Structure& structure, std::size_t i, const Place& place, int depth) {
    const nvtxPayloadSchemaEntry_t& entry = structure.schema.entries[i];
    const Schema* const nested = find_schema(domain_, entry.type);
    if (nested == nullptr) return scalars_.write(entry.type, place.data, is_message(entry));
    std::uint64_t selected = 0;
    const std::uint64_t selector = entry.arrayOrUnionDetail;
    if (nested->type == NVTX_PAYLOAD_SCHEMA_TYPE_UNION && selector < i) {
      layout_.read_integer(structure.schema.entries[selector].type, structure.bytes, structure.offsets[selector],
                           selected);
    }
    const bool has_size = place.element != 0 && place.element < place.data.size;
    return write_schema(*nested, has_size ? Bytes{place.data.data, place.element} : place.data, depth - 1, selected);
  }

  bool write_array(std::uint64_t type, std::size_t element, const Bytes& data, std::size_t count, int depth) {
    if (type == NVTX_PAYLOAD_ENTRY_TYPE_BYTE) {
      json_.hex(data.data, std::min(count, kMaxElements), false);
      return true;
    }
    json_.raw("[");
    for (std::size_t i = 0; i < count && json_.fits(); ++i) {
      if (i != 0) json_.raw(",");
      if (i == kMaxElements) {
        json_.raw("\"...\"");
        break;
      }
      const Bytes one{data.data + i * element, element};
      const Schema* const nested = find_schema(domain_, type);
      const bool is_written =
          nested != nullptr ? write_schema(*nested, one, depth - 1, 0) : scalars_.write(type, one, false);
      if (!is_written) json_.raw("null");
    }
    json_.raw("]");
    return true;
  }

  const Domain& domain_;
  const PayloadLayout layout_;
  JsonText& json_;
  ScalarWriter scalars_;
};

void write_key(JsonText& json, const Schema* schema, std::size_t i) {
  if (schema != nullptr && schema->name[0] != '\0') {
    json.string(schema->name);
  } else {
    json.raw("\"payload");
    if (i != 0) json.number(i);
    json.raw("\"");
  }
  json.raw(":");
}

}  // namespace

std::string_view render_payload(const Domain& domain, const nvtxPayloadData_t* payloads, std::size_t count,
                                char (&buffer)[kMaxPayloadText], EventMessage& message) {
  if (payloads == nullptr) return {};
  JsonText json(buffer, sizeof buffer);
  Renderer renderer(domain, json, message);
  bool is_empty = true, is_complete = true;
  json.raw("{");
  for (std::size_t i = 0; is_complete && i < std::min(count, kMaxPayloads); ++i) {
    if (!renderer.can_render(payloads[i])) continue;
    char* const start = json.position();
    if (!is_empty) json.raw(",");
    write_key(json, find_schema(domain, payloads[i].schemaId), i);
    if (json.fits() && !renderer.write_payload(payloads[i])) json.raw("null");
    is_complete = json.fits();
    if (is_complete) {
      is_empty = false;
    } else {
      json.rewind(start);
    }
  }
  json.end_object(is_empty, is_complete);
  return is_empty && is_complete ? std::string_view() : json.text();
}

}  // namespace profshim::nvtx
