// Reading files, creating folders, high descriptors.
#pragma once

#include <string>
#include <vector>

namespace profshim {

/// Returns false and an errno in `error` on failure.
bool read_file(const std::string& path, std::string& text, int& error);
/// mkdir -p. Returns 0 or an errno.
int make_folders(const std::string& path);
/// Returns the paths that match a shell pattern; higher version numbers come first ("cuda-12.4" before "cuda-9.2").
std::vector<std::string> files_newest_first(const std::string& pattern);
/// Calls getcwd, but does not resolve links.
std::string absolute_path(const std::string& path);

/// Opens a descriptor that does not disturb the job: >= 512 if the limit allows. Close-on-exec.
int open_high(const char* path, int flags, unsigned mode = 0666);

}  // namespace profshim
