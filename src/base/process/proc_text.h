// Reads files in /proc that hold texts ended by NUL: cmdline, environ.
#pragma once

#include <string>
#include <vector>

namespace profshim {

std::vector<std::string> read_proc_texts(const std::string& path);

}  // namespace profshim
