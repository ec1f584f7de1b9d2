// A file that appears under its final name only when complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace profshim {

/// Writes a hidden file with a random name (".NAME.XXXX.tmp") in the same folder and renames it at the end. Other users
/// cannot guess the name and place a link there. publish(kKeepExisting) fails with EEXIST instead of replacing a file
/// (link(2), unlink(2)).
class AtomicFile {
 public:
  AtomicFile() = default;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();  // removes an unpublished file
  bool open(const std::string& final_path);
  /// Opens `name` below `folder`, in which other users may write; creates subfolders. Follows links only of us or root.
  /// `folder_fd` >= 0 is used instead of `folder`.
  bool open(const std::string& folder, const std::string& name, int folder_fd = -1);
  bool write(const void* data, std::size_t size);
  enum class Existing : std::uint8_t { kReplace, kKeepExisting };
  bool publish(Existing existing);
  std::uint64_t size() const { return size_; }
  int error() const { return error_; }  // errno of the first failure
  /// Returns nanoseconds since the epoch by the file system's clock; 0 = unknown.
  std::int64_t written_at_ns() const;
  /// Unchanged by publish(); 0 = unknown.
  std::uint64_t inode() const;

 private:
  bool create(const std::string& name);

  std::string name_, temporary_;  // in the folder
  int folder_fd_ = -1;
  std::uint64_t size_ = 0;
  int fd_ = -1;
  int error_ = 0;
};

}  // namespace profshim
