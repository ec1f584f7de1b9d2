// The environment that the process was started in: what asks for a recording, and the folder of relative paths.
#pragma once

#include <string>

namespace profshim::session {

/// A relative path as the job's launch folder has it, wherever the job has gone since.
std::string from_launch_folder(const std::string& path);

}  // namespace profshim::session
