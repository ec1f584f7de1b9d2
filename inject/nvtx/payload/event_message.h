// The name that a payload gives to its event.
#pragma once

#include <string_view>

#include "limits.h"

namespace profshim::nvtx {

/// The text of the field that is flagged as the event's message. It belongs to the job, or lies in `utf8`: then the
/// object must not be copied.
struct EventMessage {
  std::string_view text;  // "" = none
  char utf8[kMaxString];  // room for a text that was UTF-16 or UTF-32
};

}  // namespace profshim::nvtx
