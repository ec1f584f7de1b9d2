// The routine that trampolines call at the entry of a hooked function.
#pragma once

#include <cstdint>

#include "profshim/event.h"

namespace profshim::symbol_steps {

constexpr std::uint32_t kMaxSites = 64;  // a pattern that means more functions than that means no step

/// What the trampolines say; written before the function is patched, constant afterwards.
extern constinit StringId site_names[kMaxSites];

void choose_register_state();
const void* stub_target();

}  // namespace profshim::symbol_steps
