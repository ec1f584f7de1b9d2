#include "payload.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace profshim::nvtx {
namespace {

constexpr int kMaxDepth = 4;
constexpr std::size_t kMaxElements = 64;  // of an array that are shown
constexpr std::size_t kMaxString = 1024;  // bytes of a string that are shown
constexpr std::size_t kMaxEntries = 256;  // of a schema that are shown
constexpr std::size_t kClosing = 64;      // kept free: closing brackets and the mark of what was left out

/// JSON into a fixed buffer. When a value does not fit, the caller goes back to before it.
class Json {
 public:
  Json(char* buffer, std::size_t size) : begin_(buffer), at_(buffer), end_(buffer + size - kClosing) {}

  bool fits() const { return fits_; }
  char* mark() const { return at_; }
  void back_to(char* mark) {
    at_ = mark;
    fits_ = true;
  }
  std::string_view text() const { return {begin_, static_cast<std::size_t>(at_ - begin_)}; }

  void raw(std::string_view text) {
    if (at_ + text.size() > end_) {
      fits_ = false;
      return;
    }
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  /// For brackets and the mark only: may use the bytes kept free.
  void close(std::string_view text) {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  template <class Number>
  void number(Number value) {
    char digits[64];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
    raw(error == std::errc() ? std::string_view(digits, static_cast<std::size_t>(end - digits)) : "null");
  }
  void real(double value) {
    if (std::isnan(value)) return raw("\"NaN\"");
    if (std::isinf(value)) return raw(value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
    number(value);
  }
  void hex(const std::uint8_t* bytes, std::size_t size, bool big_end_first) {
    raw("\"0x");
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint8_t byte = bytes[big_end_first ? size - 1 - i : i];
      static constexpr char kDigits[] = "0123456789abcdef";
      const char pair[2] = {kDigits[byte >> 4], kDigits[byte & 15]};
      raw({pair, 2});
    }
    raw("\"");
  }
  void string(std::string_view text) {
    raw("\"");
    for (const char c : text.substr(0, kMaxString)) {
      if (c == '"' || c == '\\') {
        const char pair[2] = {'\\', c};
        raw({pair, 2});
      } else if (static_cast<unsigned char>(c) < 0x20) {
        raw(" ");
      } else {
        raw({&c, 1});
      }
    }
    raw(text.size() > kMaxString ? "...\"" : "\"");
  }

 private:
  char* begin_;
  char* at_;
  char* end_;
  bool fits_ = true;
};

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

struct TypeSize {
  std::uint8_t bytes, align;
};
TypeSize size_of_type(std::uint64_t type) {
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

/// Size of one character of a string or character type; 0 = no text.
std::size_t character_bytes(std::uint64_t type) {
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
bool is_string(std::uint64_t type) {
  return type >= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING && type <= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32;
}

// 2^exponent, without ldexp: it is the one function that would make us need libm.
double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52); }

double half_to_double(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 0    ? fraction * power_of_two(-24)
                           : exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
                                            : (fraction + 1024) * power_of_two(exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

class Renderer {
 public:
  Renderer(const Domain& domain, Json& json, std::string_view& message)
      : domain_(domain), json_(json), message_(message) {}

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

  /// The entry of that name in a payload of a plain schema.
  bool integer(const nvtxPayloadData_t& data, std::string_view name, std::uint64_t& value) const {
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

  bool shown(const nvtxPayloadData_t& data) const {
    if (data.schemaId == NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED) return false;
    return data.schemaId == NVTX_TYPE_PAYLOAD_SCHEMA_RAW || size_of_type(data.schemaId).bytes != 0 ||
           find_schema(domain_, data.schemaId) != nullptr;
  }

 private:
  /// Size and alignment of an entry's element.
  void element_of(std::uint64_t type, int depth, std::size_t& bytes, std::size_t& align) const {
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

  /// Size and alignment of what an entry has in the payload itself: a pointer, characters, or its element.
  void layout_of(const nvtxPayloadSchemaEntry_t& entry, int depth, std::size_t& bytes, std::size_t& align) const {
    element_of(entry.type, depth, bytes, align);
    if ((entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) != 0)
      bytes = align = sizeof(void*);
    else if (is_string(entry.type) && (array_kind(entry) != 0 || entry.arrayOrUnionDetail != 0)) {
      bytes = align = character_bytes(entry.type);
    }
  }

  static std::uint64_t array_kind(const nvtxPayloadSchemaEntry_t& entry) { return entry.flags & (7 << 4); }
  static bool is_embedded_array(const nvtxPayloadSchemaEntry_t& entry) {
    return (entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) == 0 &&
           array_kind(entry) == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
  }

  static bool is_embedded_string(const nvtxPayloadSchemaEntry_t& entry) {
    return (entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) == 0 && array_kind(entry) == 0 && is_string(entry.type) &&
           entry.arrayOrUnionDetail != 0;
  }

  bool integer_at(std::uint64_t type, const Bytes& bytes, std::size_t offset, std::uint64_t& value) const {
    std::size_t size = 0, align = 1;
    element_of(type, 1, size, align);
    if (size == 0 || size > 8 || offset > bytes.size || bytes.size - offset < size) return false;
    value = 0;
    std::memcpy(&value, bytes.data + offset, size);
    return true;
  }

  bool of_schema(const Schema& schema, const Bytes& bytes, int depth, std::uint64_t selected) {
    if (schema.values != nullptr) return enum_value(schema, bytes);
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
      layout_of(entry, depth, element, align);
      if (schema.pack != 0) align = std::min(align, schema.pack);
      if (is_union) cursor = 0;
      offsets[i] = entry.offset != 0 ? entry.offset : (cursor + align - 1) / align * align;
      cursor = offsets[i] + extent(schema, entry, bytes, offsets, i, element);
      if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR) integer_at(entry.type, bytes, offsets[i], selected);
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

  /// Elements of an entry, as far as can be known.
  std::size_t length_of(const Schema& schema, const nvtxPayloadSchemaEntry_t& entry, const Bytes& bytes,
                        const std::size_t* offsets, std::size_t i, const Bytes& data, std::size_t element) const {
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

  /// Bytes that an entry takes in the payload.
  std::size_t extent(const Schema& schema, const nvtxPayloadSchemaEntry_t& entry, const Bytes& bytes,
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
      element_of(entry.type, depth, element, align);  // of what it points to
    } else if ((entry.flags & (NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE)) !=
               0) {
      std::uint64_t distance = 0;
      if (!integer_at(entry.type, bytes, offsets[i], distance)) return false;
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
      text({target, SIZE_MAX}, character, kMaxString + 1, message);
      return true;
    }
    if (character != 0 && (kind != 0 || is_string(entry.type))) {
      std::size_t n =
          kind == 0 ? entry.arrayOrUnionDetail : length_of(schema, entry, bytes, offsets, i, data, character);
      if (!outside) n = std::min(n, data.size / character);
      text(data, character, n, message);
      return true;
    }
    if (kind == 0) {
      const Schema* const nested = find_schema(domain_, entry.type);
      if (nested != nullptr) {
        std::uint64_t selected = 0;
        if (nested->type == NVTX_PAYLOAD_SCHEMA_TYPE_UNION && entry.arrayOrUnionDetail < i) {
          const std::uint64_t at = entry.arrayOrUnionDetail;
          integer_at(schema.entries[at].type, bytes, offsets[at], selected);
        }
        return of_schema(*nested, element != 0 && element < data.size ? Bytes{data.data, element} : data, depth - 1,
                         selected);
      }
      return scalar(entry.type, data, message);
    }
    if (element == 0) return false;
    std::size_t n = length_of(schema, entry, bytes, offsets, i, data, element);
    if (!outside) n = std::min(n, data.size / element);
    return array(entry.type, element, data, n, depth);
  }

  bool array(std::uint64_t type, std::size_t element, const Bytes& data, std::size_t n, int depth) {
    if (n == 1 && depth == kMaxDepth) return scalar(type, data, false);
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
      const bool good = nested != nullptr ? of_schema(*nested, one, depth - 1, 0) : scalar(type, one, false);
      if (!good) json_.raw("null");
    }
    json_.raw("]");
    return true;
  }

  bool enum_value(const Schema& schema, const Bytes& bytes) {
    std::uint64_t value = 0;
    const std::size_t size = std::min<std::size_t>(schema.static_size, 8);
    if (bytes.size < size) return false;
    std::memcpy(&value, bytes.data, size);
    bool flags = false;
    const std::uint64_t mask = size == 8 ? ~0ULL : (1ULL << 8 * size) - 1;
    for (std::size_t i = 0; i < schema.count; ++i) {
      flags |= schema.values[i].isFlag != 0;
      if ((schema.values[i].value & mask) == value) {
        json_.string(schema.values[i].name);
        return true;
      }
    }
    if (!flags || value == 0) {
      json_.number(value);
      return true;
    }
    json_.raw("\"");
    bool first = true;
    for (std::size_t i = 0; i < schema.count; ++i) {
      const nvtxPayloadEnum_t& one = schema.values[i];
      if (one.isFlag == 0 || one.value == 0 || (value & one.value) != one.value) continue;
      if (!first) json_.raw("|");
      // Names are identifiers; what would need escaping is left to the number.
      json_.raw(std::string_view(one.name).find_first_of("\"\\\n") == std::string_view::npos ? one.name : "?");
      value &= ~one.value;
      first = false;
    }
    if (value != 0) {
      if (!first) json_.raw("|");
      json_.number(value);
    }
    json_.raw("\"");
    return true;
  }

  /// `n` characters at most, up to a zero.
  void text(const Bytes& data, std::size_t character, std::size_t n, bool message) {
    if (character == 1) {
      const auto* const chars = reinterpret_cast<const char*>(data.data);
      const std::string_view view(chars, strnlen(chars, n));
      json_.string(view);
      if (message) message_ = view;
      return;
    }
    wchar_t wide[kMaxString + 1];
    std::size_t length = 0;
    for (std::size_t i = 0; i < n && length < kMaxString; ++i) {
      std::uint32_t c = 0;
      std::memcpy(&c, data.data + i * character, character);
      if (c == 0) break;
      if (character == 2 && c >= 0xd800 && c < 0xdc00 && i + 1 < n) {  // a surrogate pair
        std::uint16_t low = 0;
        std::memcpy(&low, data.data + (i + 1) * 2, 2);
        if (low >= 0xdc00 && low < 0xe000) {
          c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00U);
          ++i;
        }
      }
      wide[length++] = static_cast<wchar_t>(c);
    }
    wide[length] = 0;
    char utf8[kMaxString];
    json_.string({utf8, to_utf8(wide, utf8, sizeof utf8)});
  }

  template <class T, class Print>
  static bool with(const Bytes& data, const Print& print) {
    T value;
    if (!data.load(0, value)) return false;
    print(value);
    return true;
  }
  template <class T>
  bool integer(const Bytes& data) {
    return with<T>(data, [this](T value) { json_.number(value); });
  }
  template <class T>
  bool real(const Bytes& data) {
    return with<T>(data, [this](T value) { json_.real(static_cast<double>(value)); });
  }

  bool scalar(std::uint64_t type, const Bytes& data, bool message) {
    switch (type) {
      case NVTX_PAYLOAD_ENTRY_TYPE_CHAR:
      case NVTX_PAYLOAD_ENTRY_TYPE_CHAR8:
      case NVTX_PAYLOAD_ENTRY_TYPE_CHAR16:
      case NVTX_PAYLOAD_ENTRY_TYPE_WCHAR:
      case NVTX_PAYLOAD_ENTRY_TYPE_CHAR32:
        if (data.size < character_bytes(type)) return false;
        text(data, character_bytes(type), 1, false);
        return true;
      case NVTX_PAYLOAD_ENTRY_TYPE_UCHAR:
      case NVTX_PAYLOAD_ENTRY_TYPE_UINT8:
        return with<std::uint8_t>(data, [this](unsigned v) { json_.number(v); });
      case NVTX_PAYLOAD_ENTRY_TYPE_INT8:
        return with<std::int8_t>(data, [this](int v) { json_.number(v); });
      case NVTX_PAYLOAD_ENTRY_TYPE_SHORT:
      case NVTX_PAYLOAD_ENTRY_TYPE_INT16:
        return integer<std::int16_t>(data);
      case NVTX_PAYLOAD_ENTRY_TYPE_USHORT:
      case NVTX_PAYLOAD_ENTRY_TYPE_UINT16:
        return integer<std::uint16_t>(data);
      case NVTX_PAYLOAD_ENTRY_TYPE_INT:
      case NVTX_PAYLOAD_ENTRY_TYPE_INT32:
        return integer<std::int32_t>(data);
      case NVTX_PAYLOAD_ENTRY_TYPE_UINT:
      case NVTX_PAYLOAD_ENTRY_TYPE_UINT32:
      case NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY:
      case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32:
      case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32:
      case NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR:
        return integer<std::uint32_t>(data);
      case NVTX_PAYLOAD_ENTRY_TYPE_LONG:
      case NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG:
      case NVTX_PAYLOAD_ENTRY_TYPE_INT64:
        return integer<std::int64_t>(data);
      case NVTX_PAYLOAD_ENTRY_TYPE_ULONG:
      case NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG:
      case NVTX_PAYLOAD_ENTRY_TYPE_UINT64:
      case NVTX_PAYLOAD_ENTRY_TYPE_SIZE:
      case NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID:
      case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64:
      case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64:
        return integer<std::uint64_t>(data);
      case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT:
      case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
      case NVTX_PAYLOAD_ENTRY_TYPE_TF32:
        return real<float>(data);
      case NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE:
      case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64:
        return real<double>(data);
      case NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE:
        return real<long double>(data);
      case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16:
        return with<std::uint16_t>(data, [this](std::uint16_t v) { json_.real(half_to_double(v)); });
      case NVTX_PAYLOAD_ENTRY_TYPE_BF16:
        return with<std::uint16_t>(data, [this](std::uint16_t v) {
          const std::uint32_t bits = std::uint32_t{v} << 16;
          float value;
          std::memcpy(&value, &bits, sizeof value);
          json_.real(value);
        });
      case NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE:
        return with<const RegisteredString*>(data, [&](const RegisteredString* string) {
          const std::string_view view = string == nullptr ? "" : std::string_view(string->text, string->length);
          json_.string(view);
          if (message) message_ = view;
        });
      default: {
        // Addresses, colours, bytes and what has no number in C: hexadecimal, most significant digit first.
        const std::size_t size = size_of_type(type).bytes;
        if (size == 0 || data.size < size) return false;
        json_.hex(data.data, size, true);
        return true;
      }
    }
  }

  const Domain& domain_;
  Json& json_;
  std::string_view& message_;
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

bool integer_in(const Domain& domain, const nvtxPayloadData_t& payload, std::string_view entry, std::uint64_t& value) {
  Json none(nullptr, 0);
  std::string_view message;
  return Renderer(domain, none, message).integer(payload, entry, value);
}

}  // namespace profshim::nvtx
