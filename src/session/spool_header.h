// The texts and facts that a recording writes about itself.
#pragma once

#include <string>

#include "state.h"

namespace profshim::session {

void define_facts(const State& state);
void fill_header(State& state);
void fill_manifest(State& state);

/// The source of steps that the spec names, as messages and manifests have it.
std::string source_text(const Spec& spec);

}  // namespace profshim::session
