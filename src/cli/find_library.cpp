#include "find_library.h"

#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "profshim/base/files.h"

namespace profshim::cli {
namespace {

std::string folder_of_this_program() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0 || length == sizeof path) return "";
  const std::string whole(path, static_cast<std::size_t>(length));
  return whole.substr(0, whole.rfind('/'));
}

}  // namespace

std::string find_library(std::string& why_not) {
  std::string found;
  if (const char* const named = std::getenv("PROFSHIM_LIBRARY"); named != nullptr && *named != '\0') {
    found = absolute_path(named);
    if (access(found.c_str(), R_OK) != 0) {
      why_not = "cannot read " + found + "; set PROFSHIM_LIBRARY to a libprofshim.so, or unset it";
      return "";
    }
  } else {
    const std::string here = folder_of_this_program();
    for (const char* const place : {"/libprofshim.so", "/../lib/libprofshim.so", "/../lib/profshim/libprofshim.so"}) {
      if (found.empty() && access((here + place).c_str(), R_OK) == 0) found = here + place;
    }
    if (found.empty()) {
      why_not = "libprofshim.so not found beside this program or in ../lib; set PROFSHIM_LIBRARY to its path";
      return "";
    }
  }
  if (found.find_first_of(" :") != std::string::npos) {
    why_not = "LD_PRELOAD cannot hold a path with a space or a colon: " + found +
              "; copy the library elsewhere and set PROFSHIM_LIBRARY";
    return "";
  }
  return found;
}

}  // namespace profshim::cli
