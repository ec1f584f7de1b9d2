#pragma once

#include <string>

namespace profshim::session {

/// Resolves a relative path against the working directory at the first requested().
std::string from_launch_folder(const std::string& path);

}  // namespace profshim::session
