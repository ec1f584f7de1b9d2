// Lists in /proc whose texts end with NUL: cmdline, environ.
#pragma once

#include <string>
#include <vector>

namespace profshim {

std::vector<std::string> read_proc_texts(const std::string& path);

}  // namespace profshim
