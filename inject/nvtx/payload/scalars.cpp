#include "scalars.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "types.h"

namespace profshim::nvtx {
namespace {

// Not std::ldexp(), which would be the library's only use of libm.
double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52); }

double half_to_double(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 0    ? fraction * power_of_two(-24)
                           : exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
                                            : (fraction + 1024) * power_of_two(exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double bfloat_to_double(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

bool has_flags(const Schema& schema) {
  return std::any_of(schema.values, schema.values + schema.count, [](const auto& value) { return value.isFlag != 0; });
}

}  // namespace

bool ScalarWriter::write_enum(const Schema& schema, const Bytes& bytes) {
  std::uint64_t value = 0;
  const std::size_t size = std::min(schema.static_size, sizeof value);
  if (bytes.size < size) return false;
  std::memcpy(&value, bytes.data, size);
  const std::uint64_t mask = size == sizeof value ? ~0ULL : (1ULL << 8 * size) - 1;
  for (std::size_t i = 0; i < schema.count; ++i) {
    if ((schema.values[i].value & mask) != value) continue;
    json_.string(schema.values[i].name);
    return true;
  }
  if (value != 0 && has_flags(schema)) {
    write_flags(schema, value);
  } else {
    json_.number(value);
  }
  return true;
}

void ScalarWriter::write_flags(const Schema& schema, std::uint64_t value) {
  json_.raw("\"");
  bool first = true;
  for (std::size_t i = 0; i < schema.count; ++i) {
    const nvtxPayloadEnum_t& flag = schema.values[i];
    if (flag.isFlag == 0 || flag.value == 0 || (value & flag.value) != flag.value) continue;
    if (!first) json_.raw("|");
    json_.characters(flag.name);
    value &= ~flag.value;
    first = false;
  }
  if (value != 0) {
    if (!first) json_.raw("|");
    json_.number(value);
  }
  json_.raw("\"");
}

void ScalarWriter::write_text(const Bytes& data, std::size_t width, std::size_t count, bool is_message) {
  if (width == 1) {
    const auto* const chars = reinterpret_cast<const char*>(data.data);
    const std::string_view view(chars, strnlen(chars, count));
    json_.string(view);
    if (is_message) message_.text = view;
    return;
  }
  wchar_t wide[kMaxString + 1];
  std::size_t length = 0;
  for (std::size_t i = 0; i < count && length < kMaxString; ++i) {
    std::uint32_t c = 0;
    std::memcpy(&c, data.data + i * width, width);
    if (c == 0) break;
    if (width == 2 && c >= 0xd800 && c < 0xdc00 && i + 1 < count) {  // surrogate pair
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
  char room[kMaxString];
  char* const utf8 = is_message ? message_.utf8 : room;
  const std::string_view view(utf8, to_utf8(wide, utf8, kMaxString));
  json_.string(view);
  if (is_message) message_.text = view;
}

bool ScalarWriter::write(std::uint64_t type, const Bytes& data, bool is_message) {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR8:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR16:
    case NVTX_PAYLOAD_ENTRY_TYPE_WCHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR32:
      if (data.size < character_bytes(type)) return false;
      write_text(data, character_bytes(type), 1, false);
      return true;
    case NVTX_PAYLOAD_ENTRY_TYPE_UCHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT8:
      return load<std::uint8_t>(data, [this](unsigned v) { json_.number(v); });
    case NVTX_PAYLOAD_ENTRY_TYPE_INT8:
      return load<std::int8_t>(data, [this](int v) { json_.number(v); });
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
    case NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE:
      return load<const RegisteredString*>(data, [&](const RegisteredString* string) {
        const std::string_view view = string == nullptr ? "" : std::string_view(string->text, string->length);
        json_.string(view);
        if (is_message) message_.text = view;
      });
    default:
      return write_real(type, data);
  }
}

bool ScalarWriter::write_real(std::uint64_t type, const Bytes& data) {
  switch (type) {
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
      return load<std::uint16_t>(data, [this](std::uint16_t bits) { json_.real(half_to_double(bits)); });
    case NVTX_PAYLOAD_ENTRY_TYPE_BF16:
      return load<std::uint16_t>(data, [this](std::uint16_t bits) { json_.real(bfloat_to_double(bits)); });
    default:
      return write_hex(type, data);
  }
}

bool ScalarWriter::write_hex(std::uint64_t type, const Bytes& data) {
  const std::size_t size = size_of_type(type).bytes;
  if (size == 0 || data.size < size) return false;
  json_.hex(data.data, size, true);
  return true;
}

}  // namespace profshim::nvtx
