// Patched functions call this routine at entry: it reports a step boundary, or the begin of a phase.
#pragma once

#include <cstdint>

#include "profshim/event.h"

namespace profshim::symbol {

/// Most functions to patch: a pattern that matches more describes no step and no phase.
constexpr std::uint32_t kMaxSites = 64;

/// A patched function.
struct Site {
  StringId name = 0;
  bool is_step = false;      // its calls begin steps
  std::uint64_t phases = 0;  // session::phases_of()
};
/// By `index` of code_patch::install(); constant once patched.
extern constinit Site sites[kMaxSites];

/// Call before the first patch.
void choose_register_state();
/// Null unless x86-64.
const void* stub_target();

}  // namespace profshim::symbol
