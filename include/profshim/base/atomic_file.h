// A file that appears under its final name only when it is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace profshim {

/// Writes to a hidden file with a random name (".NAME.XXXX.tmp") in the same folder and renames it at the end: a reader
/// sees the whole file or none. Other users cannot guess the name and place a link there. publish(kKeepExisting) fails
/// with EEXIST instead of replacing a file (link(2) and unlink(2)).
class AtomicFile {
 public:
  AtomicFile() = default;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();  // removes the temporary file if it was not published
  bool open(const std::string& final_path);
  /// Opens `name` below `folder`, in which other users may write. Creates missing subfolders. Follows a link among them
  /// only if it belongs to us or root. A `folder_fd` >= 0 is used instead of the path `folder`.
  bool open(const std::string& folder, const std::string& name, int folder_fd = -1);
  bool write(const void* data, std::size_t size);
  enum class Existing : std::uint8_t { kReplace, kKeepExisting };
  bool publish(Existing existing);
  std::uint64_t size() const { return size_; }
  int error() const { return error_; }  // errno of the first failure
  /// Returns the time of the last write by the clock of the file system, since the epoch; 0 = not known.
  std::int64_t written_at_ns() const;
  /// Returns the inode, which is the same after publish(); 0 = not known.
  std::uint64_t inode() const;

 private:
  bool create(const std::string& name);

  std::string name_, temporary_;  // names in the folder
  int folder_fd_ = -1;
  std::uint64_t size_ = 0;
  int fd_ = -1;
  int error_ = 0;
};

}  // namespace profshim
