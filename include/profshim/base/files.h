// Reading files, creating folders, and descriptors with high numbers.
#pragma once

#include <string>

namespace profshim {

/// Reads a whole file. Returns false and an errno in `error` on failure.
bool read_file(const std::string& path, std::string& text, int& error);
/// Creates a folder and its parents (mkdir -p). Returns 0 or an errno.
int make_folders(const std::string& path);
/// Returns the absolute form of a path. Calls getcwd, but does not resolve links.
std::string absolute_path(const std::string& path);

/// Opens a file with a descriptor number that does not disturb the job: >= 512 if the limit allows it. Close-on-exec.
int open_high(const char* path, int flags, unsigned mode = 0666);

}  // namespace profshim
