// The manifest's list of windows. The writer thread uses it and, once that has ended, the ending thread.
#pragma once

#include <vector>

#include "session/state.h"

namespace profshim::session {

void add_window(State& state, output::ManifestWindow window);
/// Applies output.num_traces_to_keep and output.keep_bytes: writes the manifest, then removes the files.
void remove_old_windows(State& state);
/// Takes `gone` out of the manifest and writes it, then removes their files.
void remove_windows(State& state, const std::vector<output::ManifestWindow>& gone);

}  // namespace profshim::session
