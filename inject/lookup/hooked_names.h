#pragma once

#include <cstdint>

#include "inject/core/loader/real_function.h"

namespace profshim::inject {

/// A function that the job may look up by a handle and that has a hook.
struct HookedFunction {
  const char* name;
  Layer layer;
  RealFunction& real;
};

/// Returns 0 if no hook has this name. No lock, no allocation; callable before any constructor has run.
std::uint32_t hooked_name(const char* name);

/// `number`: result of hooked_name(), not 0.
HookedFunction hooked_function(std::uint32_t number);

}  // namespace profshim::inject
