#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <utility>
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

// Files in folders that other users can write into: a pipe, a device, a folder or another user's link may replace an
// expected file. No function blocks, follows such a link, or reads more than its limit. Descriptors are -1 on failure;
// errno is set.

/// Returns 16 hex digits.
std::string random_text();

/// As open_high().
int openat_high(int folder_fd, const char* path, int flags, unsigned mode = 0666);

/// The destructor preserves errno.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// Limits of files in a run folder, in bytes.
inline constexpr std::uint64_t kMostSmallFile = 64 << 10;
inline constexpr std::uint64_t kMostManifest = 16 << 20;

/// A relative path starts at `folder_fd`. errno: ELOOP for a link, EINVAL for other non-regular files.
Descriptor open_regular(const std::string& path, struct stat& found, int folder_fd = -100 /* AT_FDCWD */);

/// `error` on failure: EFBIG beyond `most_bytes`, ELOOP for a link, EINVAL for other non-regular files.
bool read_small_file(const std::string& path, std::uint64_t most_bytes, std::string& text, int& error,
                     struct stat* found = nullptr, int folder_fd = -100 /* AT_FDCWD */);

/// Opens each level of the path by itself. A link among them must belong to us, root, or the owner of the folder to
/// which it leads: else errno is ELOOP, and `foreign_link` is the path of the link.
Descriptor open_folder(const std::string& path, std::string* foreign_link = nullptr);
/// Also creates missing levels, as mkdir -p.
Descriptor make_folder(const std::string& path, std::string* foreign_link = nullptr);

/// `below`: "a/b"; "" = the folder itself. Creates missing folders. Links on the way must belong to us or root (else
/// ELOOP).
Descriptor open_folder_below(int folder_fd, const std::string& below);

/// Names in a folder, also "." and ".."; empty if it cannot be read.
std::vector<std::string> names_in(int folder_fd);

/// Returns true if the entry no longer exists.
bool remove_if_same(int folder_fd, const std::string& name, const struct stat& expected);

}  // namespace profshim
