#include "scalars.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "limits.h"
#include "types.h"

namespace profshim::nvtx {
namespace {

// 2^exponent, without ldexp: it is the one function that would make us need libm.
double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52); }

double half_to_double(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 0    ? fraction * power_of_two(-24)
                           : exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
                                            : (fraction + 1024) * power_of_two(exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

}  // namespace

bool ScalarWriter::enum_value(const Schema& schema, const Bytes& bytes) {
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

void ScalarWriter::text(const Bytes& data, std::size_t character, std::size_t n, bool message) {
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

bool ScalarWriter::scalar(std::uint64_t type, const Bytes& data, bool message) {
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

}  // namespace profshim::nvtx
