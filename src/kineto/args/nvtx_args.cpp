// EventArgs: NVTX ranges and marks.
#include <cstdio>
#include <cstring>

#include "event_args.h"

namespace profshim::kineto {

void EventArgs::add_nvtx(const NvtxArgs& nvtx) {
  if (nvtx.domain != 0) add("domain", definitions_.domain(nvtx.domain));
  if (nvtx.category != 0) {
    const std::string_view name = definitions_.category(nvtx.domain, nvtx.category);
    if (name.empty()) {
      add("category", std::uint64_t{nvtx.category});
    } else {
      add("category", name);
    }
  }
  add_nvtx_payload(nvtx);
  if (nvtx.color != 0) {
    std::snprintf(color_, sizeof color_, "#%08x", nvtx.color);
    add("color", std::string_view{color_});
  }
  if (nvtx.extended != 0) add_extended(nvtx.extended);
}

void EventArgs::add_nvtx_payload(const NvtxArgs& nvtx) {
  // nvtxPayloadType_t of nvToolsExt.h: 1 uint64, 2 int64, 3 double, 4 uint32, 5 int32, 6 float
  const auto as = [&nvtx]<class T>(T) {
    T value;
    std::memcpy(&value, &nvtx.payload, sizeof value);
    return value;
  };
  switch (nvtx.payload_type) {
    case 1:
      add("payload", nvtx.payload);
      break;
    case 2:
      add("payload", as(std::int64_t{}));
      break;
    case 3:
      add("payload", as(double{}));
      break;
    case 4:
      add("payload", std::uint64_t{as(std::uint32_t{})});
      break;
    case 5:
      add("payload", std::int64_t{as(std::int32_t{})});
      break;
    case 6:
      add("payload", double{as(float{})});
      break;
    default:
      break;
  }
}

// Shows a damaged payload as a text.
void EventArgs::add_extended(StringId id) {
  const std::string_view text = view_.string(id);
  if (is_json(id, text)) {
    add("payload", RawJson{text});
  } else {
    add("payload", text);
  }
}

}  // namespace profshim::kineto
