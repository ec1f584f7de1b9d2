// The name that a payload gives to its event.
#pragma once

#include <string_view>

#include "limits.h"

namespace profshim::nvtx {

/// The field flagged as the event's message. `text` belongs to the job or lies in `utf8`: then do not copy the object.
struct EventMessage {
  std::string_view text;  // "" = none
  char utf8[kMaxString];  // for UTF-16 and UTF-32
};

}  // namespace profshim::nvtx
