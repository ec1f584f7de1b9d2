#pragma once

#include <cstdint>

#include "profshim/spec.h"

namespace profshim::session {

/// Returns recorder::mode() for `spec`, without kArmed and the bits of Detail.
std::uint32_t mode_bits(const Spec& spec);

}  // namespace profshim::session
