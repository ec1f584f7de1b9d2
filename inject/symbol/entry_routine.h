// Patched functions call this routine at entry: it saves all registers and reports a step boundary.
#pragma once

#include <cstdint>

#include "profshim/event.h"

namespace profshim::symbol_steps {

/// Most functions to patch: a pattern that matches more describes no step.
constexpr std::uint32_t kMaxSites = 64;

/// Names by `index` of code_patch::install(); constant once patched.
extern constinit StringId site_names[kMaxSites];

/// Call before the first patch.
void choose_register_state();
/// Null unless x86-64.
const void* stub_target();

}  // namespace profshim::symbol_steps
