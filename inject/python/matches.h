// Decides which Python functions make phases.
#pragma once

#include <cstdint>

#include "abi.h"
#include "profshim/event.h"

namespace profshim::python {

struct Match {
  std::uint64_t phases = 0;  // session::phases_of()
  StringId name = 0;         // qualified name of the function
  bool gives_way = false;    // a generator or coroutine
};

/// Returns null if no pattern matches. The result is never freed. Call with the GIL, with no exception set. `self`: the
/// first argument, or null; Python 3.10 tells the class of a method only by it.
const Match* find_match(Object* code, Object* globals, Object* self = nullptr);

}  // namespace profshim::python
