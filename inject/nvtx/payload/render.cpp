#include "render.h"

#include <algorithm>
#include <cstring>

#include "json_text.h"
#include "layout.h"
#include "limits.h"
#include "scalars.h"
#include "types.h"

namespace profshim::nvtx {
namespace {

class Renderer {
 public:
  Renderer(const Domain& domain, Json& json, std::string_view& message)
      : domain_(domain), layout_(domain), json_(json), scalars_(json, message) {}

  /// The value of a whole payload: of a schema, or of a predefined type.
  bool payload(const nvtxPayloadData_t& data) {
    const Schema* const schema = find_schema(domain_, data.schemaId);
    std::size_t size = data.size;
    if (size == SIZE_MAX) size = schema != nullptr ? schema->static_size : size_of_type(data.schemaId).bytes;
    const Bytes bytes{static_cast<const std::uint8_t*>(data.payload), data.payload == nullptr ? 0 : size};
    if (schema != nullptr) return of_schema(*schema, bytes, kMaxDepth, 0);
    if (data.schemaId == NVTX_TYPE_PAYLOAD_SCHEMA_RAW) {
      json_.hex(bytes.data, std::min(bytes.size, kMaxElements), false);
      return true;
    }
    const std::size_t element = size_of_type(data.schemaId).bytes;
    if (element == 0) return false;
    return array(data.schemaId, element, bytes, is_string(data.schemaId) ? 1 : bytes.size / element, kMaxDepth);
  }

  bool shown(const nvtxPayloadData_t& data) const {
    if (data.schemaId == NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED) return false;
    return data.schemaId == NVTX_TYPE_PAYLOAD_SCHEMA_RAW || size_of_type(data.schemaId).bytes != 0 ||
           find_schema(domain_, data.schemaId) != nullptr;
  }

 private:
  bool of_schema(const Schema& schema, const Bytes& bytes, int depth, std::uint64_t selected) {
    if (schema.values != nullptr) return scalars_.enum_value(schema, bytes);
    if (depth == 0) return false;
    const bool is_union = schema.type == NVTX_PAYLOAD_SCHEMA_TYPE_UNION ||
                          schema.type == NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR;
    std::size_t offsets[kMaxEntries];
    std::size_t cursor = 0;
    bool first = true, complete = schema.count <= kMaxEntries;
    json_.raw("{");
    if (!json_.fits()) return false;
    for (std::size_t i = 0; complete && i < std::min(schema.count, kMaxEntries); ++i) {
      const nvtxPayloadSchemaEntry_t& entry = schema.entries[i];
      std::size_t element = 0, align = 1;
      layout_.layout_of(entry, depth, element, align);
      if (schema.pack != 0) align = std::min(align, schema.pack);
      if (is_union) cursor = 0;
      offsets[i] = entry.offset != 0 ? entry.offset : (cursor + align - 1) / align * align;
      cursor = offsets[i] + layout_.extent(schema, entry, bytes, offsets, i, element);
      if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR)
        layout_.integer_at(entry.type, bytes, offsets[i], selected);
      const bool wanted = (entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_HIDE) == 0 && (!is_union || i == selected);
      if (wanted) complete = field(schema, i, bytes, offsets, element, depth, first);
    }
    if (!complete) json_.close(first ? "\"...\":true" : ",\"...\":true");
    json_.close("}");
    return true;
  }

  /// One "name": value; false when it did not fit and was taken back.
  bool field(const Schema& schema, std::size_t i, const Bytes& bytes, const std::size_t* offsets, std::size_t element,
             int depth, bool& first) {
    const nvtxPayloadSchemaEntry_t& entry = schema.entries[i];
    char* const mark = json_.mark();
    if (!first) json_.raw(",");
    if (entry.name[0] != '\0') {
      json_.string(entry.name);
    } else {
      json_.raw("\"");
      json_.number(i);
      json_.raw("\"");
    }
    json_.raw(":");
    if (json_.fits() && !value(schema, i, bytes, offsets, element, depth)) json_.raw("null");
    if (!json_.fits()) {
      json_.back_to(mark);
      return false;
    }
    first = false;
    return true;
  }

  bool value(const Schema& schema, std::size_t i, const Bytes& bytes, const std::size_t* offsets, std::size_t element,
             int depth) {
    const nvtxPayloadSchemaEntry_t& entry = schema.entries[i];
    Bytes data = bytes.from(offsets[i]);
    bool outside = false;  // behind a pointer: the schema is all that says how long it is
    if ((entry.flags & (NVTX_PAYLOAD_ENTRY_FLAG_POINTER)) != 0) {
      const std::uint8_t* target = nullptr;
      if (!data.load(0, target) || target == nullptr) return false;
      data = Bytes{target, SIZE_MAX};
      outside = true;
      std::size_t align = 1;
      layout_.element_of(entry.type, depth, element, align);  // of what it points to
    } else if ((entry.flags & (NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE)) !=
               0) {
      std::uint64_t distance = 0;
      if (!layout_.integer_at(entry.type, bytes, offsets[i], distance)) return false;
      data = (entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE) != 0 ? bytes.from(distance)
                                                                           : data.from(distance + element);
    }
    const std::uint64_t kind = array_kind(entry);
    const bool message = (entry.flags & (3 << 10)) == NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE;
    const std::size_t character = character_bytes(entry.type);
    if (is_string(entry.type) && kind == 0 && entry.arrayOrUnionDetail == 0) {
      // A char* of the job's.
      const std::uint8_t* target = outside ? data.data : nullptr;
      if (!outside && (!data.load(0, target) || target == nullptr)) return false;
      scalars_.text({target, SIZE_MAX}, character, kMaxString + 1, message);
      return true;
    }
    if (character != 0 && (kind != 0 || is_string(entry.type))) {
      std::size_t n =
          kind == 0 ? entry.arrayOrUnionDetail : layout_.length_of(schema, entry, bytes, offsets, i, data, character);
      if (!outside) n = std::min(n, data.size / character);
      scalars_.text(data, character, n, message);
      return true;
    }
    if (kind == 0) {
      const Schema* const nested = find_schema(domain_, entry.type);
      if (nested != nullptr) {
        std::uint64_t selected = 0;
        if (nested->type == NVTX_PAYLOAD_SCHEMA_TYPE_UNION && entry.arrayOrUnionDetail < i) {
          const std::uint64_t at = entry.arrayOrUnionDetail;
          layout_.integer_at(schema.entries[at].type, bytes, offsets[at], selected);
        }
        return of_schema(*nested, element != 0 && element < data.size ? Bytes{data.data, element} : data, depth - 1,
                         selected);
      }
      return scalars_.scalar(entry.type, data, message);
    }
    if (element == 0) return false;
    std::size_t n = layout_.length_of(schema, entry, bytes, offsets, i, data, element);
    if (!outside) n = std::min(n, data.size / element);
    return array(entry.type, element, data, n, depth);
  }

  bool array(std::uint64_t type, std::size_t element, const Bytes& data, std::size_t n, int depth) {
    if (n == 1 && depth == kMaxDepth) return scalars_.scalar(type, data, false);
    if (type == NVTX_PAYLOAD_ENTRY_TYPE_BYTE) {
      json_.hex(data.data, std::min(n, kMaxElements), false);
      return true;
    }
    json_.raw("[");
    for (std::size_t i = 0; i < n && json_.fits(); ++i) {
      if (i != 0) json_.raw(",");
      if (i == kMaxElements) {
        json_.raw("\"...\"");
        break;
      }
      const Bytes one{data.data + i * element, element};
      const Schema* const nested = find_schema(domain_, type);
      const bool good = nested != nullptr ? of_schema(*nested, one, depth - 1, 0) : scalars_.scalar(type, one, false);
      if (!good) json_.raw("null");
    }
    json_.raw("]");
    return true;
  }

  const Domain& domain_;
  const PayloadLayout layout_;
  Json& json_;
  ScalarWriter scalars_;
};

}  // namespace

std::string_view render_payload(const Domain& domain, const nvtxPayloadData_t* payloads, std::size_t count,
                                char (&buffer)[kMaxPayloadText], std::string_view& message) {
  Json json(buffer, sizeof buffer);
  Renderer renderer(domain, json, message);
  if (payloads == nullptr) return {};
  json.raw("{");
  bool first = true;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, 16); ++i) {
    if (!renderer.shown(payloads[i])) continue;
    char* const mark = json.mark();
    const Schema* const schema = find_schema(domain, payloads[i].schemaId);
    if (!first) json.raw(",");
    if (schema != nullptr && schema->name[0] != '\0') {
      json.string(schema->name);
    } else {
      json.raw("\"payload");
      if (i != 0) json.number(i);
      json.raw("\"");
    }
    json.raw(":");
    if (json.fits() && !renderer.payload(payloads[i])) json.raw("null");
    if (!json.fits()) {
      json.back_to(mark);
      json.close(first ? "\"...\":true" : ",\"...\":true");
      first = false;
      break;
    }
    first = false;
  }
  json.close("}");
  return first ? std::string_view() : json.text();
}

}  // namespace profshim::nvtx
