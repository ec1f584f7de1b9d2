// Removes old traces of a rank (output.num_traces_to_keep, output.keep_bytes).
#pragma once

#include <string>
#include <vector>

#include "profshim/run/manifest.h"
#include "profshim/spec.h"

namespace profshim::write {

/// Takes the windows out of `windows` (oldest first) whose traces must go. The newest traces of steps and of each phase
/// are counted apart, so that a frequent phase does not push out the steps. Windows that await finish.command stay.
std::vector<run::ManifestWindow> take_old(const Spec& spec, std::vector<run::ManifestWindow>& windows);

/// Removes the files of `windows` and folders that become empty. Call once the manifest no longer names them: if the
/// process is killed in between, a trace too many is left, never one too few.
void remove_files(const std::string& folder, const std::vector<run::ManifestWindow>& windows);

}  // namespace profshim::write
