// Describes a recording in the header and the metadata of its spool, and in its manifest. begin_recording() calls these
// once, before it starts the threads.
#pragma once

#include <string>

#include "state.h"

namespace profshim::session {

/// Adds the metadata of the spec that go into the profshim object of the trace.
void add_spec_metadata(const State& state);
/// Fills in the spool's header. Interns texts that are needed at the end, when interning no longer works.
void fill_header(State& state);
/// Fills in the manifest. A restarted process of the same job continues the windows of the earlier one.
void fill_manifest(State& state);

/// Returns the step source of the spec for messages and manifests: "nvtx step *".
std::string source_text(const Spec& spec);

}  // namespace profshim::session
