#pragma once

#include <string>
#include <vector>

namespace profshim {

/// Returns false and sets `error` to an errno on failure.
bool read_file(const std::string& path, std::string& text, int& error);
/// As mkdir -p. Returns 0 or an errno.
int make_folders(const std::string& path);
/// Returns the paths that match a shell pattern; higher version numbers come first ("cuda-12.4" before "cuda-9.2").
std::vector<std::string> files_newest_first(const std::string& pattern);
/// Prepends getcwd() to a relative path; does not resolve links.
std::string absolute_path(const std::string& path);

/// Opens a file at a descriptor >= 512, if the limit allows: the job may rely on low numbers. Close-on-exec.
int open_high(const char* path, int flags, unsigned mode = 0666);
/// Moves a descriptor there. Returns the new one or, if the limit forbids that, `fd`.
int moved_high(int fd);

}  // namespace profshim
