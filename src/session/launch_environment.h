// The environment at the start of the process: whether it asks for a recording, and the folder of relative paths.
#pragma once

#include <string>

namespace profshim::session {

/// Makes a relative path refer to the working directory at the start of the process.
std::string from_launch_folder(const std::string& path);

}  // namespace profshim::session
