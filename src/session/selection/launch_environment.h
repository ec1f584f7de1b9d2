#pragma once

#include <string>

namespace profshim::session {

/// Resolves a relative path against the working directory at the first requested().
std::string from_launch_folder(const std::string& path);

/// TORCHELASTIC_RESTART_COUNT: how often torchrun has started all ranks again; -1 = torchrun has not started this one.
int attempt_of_torchrun();

}  // namespace profshim::session
