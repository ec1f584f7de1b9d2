#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace profshim {

/// Writes .NAME.XXXX.tmp in the folder of NAME; publish() renames it. XXXX is random: other users cannot place a link
/// there. publish(kKeepExisting) fails with EEXIST instead of replacing a file.
class AtomicFile {
 public:
  AtomicFile() = default;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();  // removes an unpublished file
  bool open(const std::string& final_path);
  /// Other users may write in `folder`: only links that belong to this user or root are followed. Creates the folders
  /// in `name`. `folder_fd` >= 0 is used instead of `folder`.
  bool open(const std::string& folder, const std::string& name, int folder_fd = -1);
  bool write(const void* data, std::size_t size);
  enum class Existing : std::uint8_t { kReplace, kKeepExisting };
  bool publish(Existing existing);
  std::uint64_t size() const { return size_; }
  int error() const { return error_; }  // errno of the first failure
  /// Time of the last write by the file system's clock, since the epoch; 0 = unknown.
  std::int64_t written_at_ns() const;
  /// publish() keeps the inode. 0 = unknown.
  std::uint64_t inode() const;
  /// Removes what a process that was killed has left of files with this final name, which may contain folders.
  static void remove_unpublished(int folder_fd, const std::string& name, int pid);

 private:
  bool create(const std::string& name);

  std::string name_, temporary_;
  int folder_fd_ = -1;
  std::uint64_t size_ = 0;
  int fd_ = -1;
  int error_ = 0;
};

}  // namespace profshim
