#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace profshim::session {

/// A file of /proc or /sys that is read many times. Its descriptor stays open between reads. The job may have closed
/// the descriptor and opened a file of its own with the same number: that file is neither read nor closed.
class ProcFile {
 public:
  explicit ProcFile(std::string path = "") : path_(std::move(path)) {}
  ~ProcFile() { close(); }
  ProcFile(const ProcFile&) = delete;
  ProcFile& operator=(const ProcFile&) = delete;

  /// Reads the file from its begin, as much as fits. Returns nothing on failure: see error(). No allocation.
  std::optional<std::string_view> read(std::span<char> into);
  /// An errno.
  int error() const { return error_; }
  const std::string& path() const { return path_; }
  void set_path(std::string path);
  void close();

 private:
  bool is_ours() const;
  bool open();

  std::string path_;
  int fd_ = -1, error_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace profshim::session
