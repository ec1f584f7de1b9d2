#pragma once

#include <string_view>

#include "limits.h"

namespace profshim::nvtx {

/// The payload field that is flagged as the event's message. Do not copy: `text` may point into `utf8`.
struct EventMessage {
  std::string_view text;
  char utf8[kMaxString];  // for UTF-16 and UTF-32
};

}  // namespace profshim::nvtx
