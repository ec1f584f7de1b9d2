#pragma once

#include <string>

namespace profshim::session {

/// Returns the path of the file with the bytes that the process's cgroup uses, or the nearest cgroup above it that has
/// a limit; "" if none has.
std::string limited_memory_file();

}  // namespace profshim::session
