// Call these functions, except source_text(), before start_threads().
#pragma once

#include <string>

#include "state.h"

namespace profshim::session {

void add_spec_metadata(const State& state);
/// Also interns texts for the end of the recording, when interning no longer works.
void fill_header(State& state);
/// A restarted process continues the earlier process's list of windows.
void fill_manifest(State& state);

std::string source_text(const State& state);

}  // namespace profshim::session
