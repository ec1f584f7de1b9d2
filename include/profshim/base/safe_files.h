// Files in folders that other users can write into. In place of an expected file there may be a pipe, a device, a
// folder or another user's link. None of these functions blocks, follows such a link, or reads more than its limit.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <utility>

namespace profshim {

/// Returns 16 random hexadecimal digits for the name of a file. Any thread.
std::string random_text();

/// openat(2) with a descriptor number that does not disturb the job: see open_high().
int openat_high(int folder_fd, const char* path, int flags, unsigned mode = 0666);

/// Owns a descriptor. The destructor closes it and keeps errno.
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

/// Maximum sizes in bytes of files in a run folder.
inline constexpr std::uint64_t kMostSmallFile = 64 << 10;
inline constexpr std::uint64_t kMostManifest = 16 << 20;

/// Opens a regular file for reading without blocking; a relative path starts at `folder_fd`. Returns -1 and sets errno
/// on failure: ELOOP for a link, EINVAL for anything else that is not a regular file.
Descriptor open_regular(const std::string& path, struct stat& found, int folder_fd = -100 /* AT_FDCWD */);

/// Reads a regular file of at most `most_bytes`. Returns false and an errno in `error` on failure: EFBIG if the file is
/// larger, EINVAL if it is not a regular file, ELOOP if it is a link.
bool read_small_file(const std::string& path, std::uint64_t most_bytes, std::string& text, int& error,
                     struct stat* found = nullptr, int folder_fd = -100 /* AT_FDCWD */);

/// Opens a folder. All parts of the path but the last are trusted. If the last part is a link, it must belong to us, to
/// root, or to the owner of the folder that it leads to. Returns -1 and sets errno on failure.
Descriptor open_folder(const std::string& path);

/// Opens the folder `below` ("a/b"; "" = the folder itself) inside an open folder; creates missing folders. A link on
/// the way must belong to us or root (otherwise ELOOP). Returns -1 and sets errno on failure.
Descriptor open_folder_below(int folder_fd, const std::string& below);

/// Removes the entry `name` of a folder if it still is the file `expected`. Returns true if the entry does not exist
/// anymore.
bool remove_if_same(int folder_fd, const std::string& name, const struct stat& expected);

}  // namespace profshim
