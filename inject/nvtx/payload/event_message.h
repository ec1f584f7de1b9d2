// The name that a payload gives to its event.
#pragma once

#include <string_view>

#include "limits.h"

namespace profshim::nvtx {

/// Not copyable: the text belongs to the job or lies in `utf8`.
struct EventMessage {
  std::string_view text;  // "" = none
  char utf8[kMaxString];  // for UTF-16 and UTF-32
};

}  // namespace profshim::nvtx
