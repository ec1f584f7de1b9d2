// Files in folders that others can write into. A pipe, a device, a folder or somebody else's link may stand where a
// file of ours is expected: none of these functions blocks, follows such a link, or reads more than it was told to.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <utility>

namespace profshim {

/// 16 characters that nobody can guess, for the name of a file. Any thread.
std::string random_text();

/// openat(2) with a descriptor out of the job's way: see open_high().
int openat_high(int folder_fd, const char* path, int flags, unsigned mode = 0666);

/// A descriptor with an owner.
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

/// The largest size of a file of the run's own.
inline constexpr std::uint64_t kMostSmallFile = 64 << 10;
inline constexpr std::uint64_t kMostManifest = 16 << 20;

/// A regular file, opened for reading without waiting; -1 and errno for a link (ELOOP) and for all that is no regular
/// file (EINVAL). `folder_fd`: where a relative path starts. Number out of the job's way.
Descriptor open_regular(const std::string& path, struct stat& found, int folder_fd = -100 /* AT_FDCWD */);

/// The text of a regular file of at most `most_bytes`. False and an errno otherwise: EFBIG when it is larger, EINVAL
/// when it is no regular file, ELOOP when it is a link.
bool read_small_file(const std::string& path, std::uint64_t most_bytes, std::string& text, int& error,
                     struct stat* found = nullptr, int folder_fd = -100 /* AT_FDCWD */);

/// Opens a folder by a path that is trusted, but for its last part: a link there must be ours, root's, or of the owner
/// of the folder that it leads to. -1 and errno.
Descriptor open_folder(const std::string& path);

/// The folder `below` ("a/b", "" = itself) inside an open folder, made where it is missing. A link on the way must be
/// ours or root's (ELOOP otherwise). -1 and errno.
Descriptor open_folder_below(int folder_fd, const std::string& below);

/// Removes the entry `name` of a folder, but only while it is the file `expected`. True when it is gone.
bool remove_if_same(int folder_fd, const std::string& name, const struct stat& expected);

}  // namespace profshim
