// Reading files, creating folders, high descriptors.
#pragma once

#include <string>

namespace profshim {

/// Returns false and an errno in `error` on failure.
bool read_file(const std::string& path, std::string& text, int& error);
/// mkdir -p. Returns 0 or an errno.
int make_folders(const std::string& path);
/// Calls getcwd, but does not resolve links.
std::string absolute_path(const std::string& path);

/// Opens a descriptor that does not disturb the job: >= 512 if the limit allows. Close-on-exec.
int open_high(const char* path, int flags, unsigned mode = 0666);

}  // namespace profshim
