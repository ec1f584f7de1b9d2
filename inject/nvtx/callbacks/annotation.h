#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "inject/nvtx/handles.h"
#include "ranges.h"

namespace profshim::nvtx {

/// A wchar_t message as UTF-8. The buffer exceeds kMaxName, so that the recorder reports too long messages.
struct WideText {
  char bytes[spool::kMaxName + 8];
  std::string_view view;
  explicit WideText(const wchar_t* text) {
    view = text == nullptr ? std::string_view() : std::string_view(bytes, to_utf8(text, bytes, sizeof bytes));
  }
};

inline std::string_view view_of(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

inline std::uint64_t payload_bits(const nvtxEventAttributes_t& a) {
  const bool wide = a.payloadType >= NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 && a.payloadType <= NVTX_PAYLOAD_TYPE_DOUBLE;
  return wide ? a.payload.ullValue : a.payload.uiValue;
}

inline Annotation annotation_of(const nvtxEventAttributes_t& a) {
  Annotation out;
  out.category = a.category;
  out.color = a.colorType == NVTX_COLOR_ARGB ? a.color : 0;
  if (a.payloadType == NVTX_PAYLOAD_TYPE_EXT) {
    out.extended = reinterpret_cast<const nvtxPayloadData_t*>(a.payload.ullValue);
    out.extended_count = static_cast<std::size_t>(std::max(a.reserved0, 0));
  } else if (a.payloadType > 0 && a.payloadType <= NVTX_PAYLOAD_TYPE_FLOAT) {
    out.payload = payload_bits(a);
    out.payload_type = static_cast<std::uint8_t>(a.payloadType);
  }
  if (a.messageType == NVTX_MESSAGE_TYPE_ASCII) out.c_text = a.message.ascii;
  if (a.messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
    out.string = reinterpret_cast<RegisteredString*>(a.message.registered);
  }
  return out;
}

/// Null if there is no message, or a wchar_t message.
inline const char* message_of(const nvtxEventAttributes_t& a) {
  if (a.messageType == NVTX_MESSAGE_TYPE_ASCII) return a.message.ascii;
  if (a.messageType != NVTX_MESSAGE_TYPE_REGISTERED || a.message.registered == nullptr) return nullptr;
  return reinterpret_cast<const RegisteredString*>(a.message.registered)->text;
}

/// Not inline, so that only wchar_t messages need a WideText's stack.
template <class Call>
[[gnu::noinline]] auto with_wide(Annotation annotation, const wchar_t* text, const Call& call) {
  const WideText wide(text);
  annotation.text = wide.view;
  return call(annotation);
}

/// Fields that an older NVTX lacks are zero.
template <class Call>
auto with_attributes(const nvtxEventAttributes_t* attributes, const Call& call) {
  if (!listening()) return call.skipped();
  if (attributes == nullptr) return call(Annotation{});
  if (attributes->size >= sizeof *attributes && attributes->messageType != NVTX_MESSAGE_TYPE_UNICODE &&
      call.can_skip(message_of(*attributes))) {
    return call.skipped();
  }
  nvtxEventAttributes_t whole;
  if (attributes->size < sizeof whole) {
    whole = nvtxEventAttributes_t{};
    std::memcpy(&whole, attributes, attributes->size);
    attributes = &whole;
  }
  const Annotation annotation = annotation_of(*attributes);
  if (attributes->messageType == NVTX_MESSAGE_TYPE_UNICODE) {
    return with_wide(annotation, attributes->message.unicode, call);
  }
  return call(annotation);
}

template <class Call>
auto with_text(const char* text, const Call& call) {
  if (call.can_skip(text)) return call.skipped();
  Annotation annotation;
  annotation.c_text = text;
  return call(annotation);
}
template <class Call>
auto with_text(const wchar_t* text, const Call& call) {
  return listening() ? with_wide(Annotation{}, text, call) : call.skipped();
}

}  // namespace profshim::nvtx
