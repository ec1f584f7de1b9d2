#include <cstdio>
#include <cstring>

#include "event_args.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {

namespace arg = schema::arg;

void EventArgs::add_nvtx(const NvtxArgs& nvtx) {
  if (nvtx.domain != 0) add(arg::kDomain, definitions_.domain(nvtx.domain));
  if (nvtx.category != 0) {
    const std::string_view name = definitions_.category(nvtx.domain, nvtx.category);
    if (name.empty()) {
      add(arg::kNvtxCategory, std::uint64_t{nvtx.category});
    } else {
      add(arg::kNvtxCategory, name);
    }
  }
  add_nvtx_payload(nvtx);
  if (nvtx.color != 0) {
    std::snprintf(color_, sizeof color_, "#%08x", nvtx.color);
    add(arg::kColor, std::string_view{color_});
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
      add(arg::kPayload, nvtx.payload);
      break;
    case 2:
      add(arg::kPayload, as(std::int64_t{}));
      break;
    case 3:
      add(arg::kPayload, as(double{}));
      break;
    case 4:
      add(arg::kPayload, std::uint64_t{as(std::uint32_t{})});
      break;
    case 5:
      add(arg::kPayload, std::int64_t{as(std::int32_t{})});
      break;
    case 6:
      add(arg::kPayload, double{as(float{})});
      break;
    default:
      break;
  }
}

void EventArgs::add_extended(StringId id) {
  const std::string_view text = view_.string(id);
  if (is_json(id, text)) {
    add(arg::kPayload, RawJson{text});
  } else {
    add(arg::kPayload, text);
  }
}

}  // namespace profshim::kineto
