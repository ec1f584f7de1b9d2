// The name that a payload gives to its event.
#pragma once

#include <string_view>

#include "limits.h"

namespace profshim::nvtx {

/// The field flagged as the event's message. Do not copy: `text` may point into `utf8`, if not to the job's memory.
struct EventMessage {
  std::string_view text;  // "" = none
  char utf8[kMaxString];  // for UTF-16 and UTF-32
};

}  // namespace profshim::nvtx
