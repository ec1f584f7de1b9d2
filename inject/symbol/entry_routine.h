// The routine that trampolines call at the entry of a hooked function: saves all registers and reports a step boundary.
#pragma once

#include <cstdint>

#include "profshim/event.h"

namespace profshim::symbol_steps {

/// The largest number of hooked functions. A pattern that matches more does not describe a step.
constexpr std::uint32_t kMaxSites = 64;

/// Names of the hooked functions by index. An entry is written before its function is patched and constant afterwards.
extern constinit StringId site_names[kMaxSites];

/// Finds out which register state the routine must save on this machine. Call before the first patch.
void choose_register_state();
/// Returns the address of the routine; null on processors other than x86-64.
const void* stub_target();

}  // namespace profshim::symbol_steps
