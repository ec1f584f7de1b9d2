// Reads files of /proc that hold a list of texts, each ended by NUL: cmdline and environ.
#pragma once

#include <string>
#include <vector>

namespace profshim {

/// Reads a file of zero-terminated texts (/proc/PID/cmdline, /proc/PID/environ). Empty if the file cannot be read.
std::vector<std::string> read_proc_texts(const std::string& path);

}  // namespace profshim
