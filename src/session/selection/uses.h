#pragma once

#include <string>

#include "profshim/spec.h"

namespace profshim::session {

/// Returns the libraries that note_use() has seen, such as "MPI and PyTorch". "" = none, or process.require_any names
/// one of them.
std::string uses_in_vain(const Spec& spec);
/// In a child, which has used nothing yet.
void forget_uses();

}  // namespace profshim::session
