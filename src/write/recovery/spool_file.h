// Holds a spool file open, so that all operations apply to the same file.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "profshim/base/files.h"
#include "profshim/base/process_identity.h"
#include "profshim/spool/view.h"

namespace profshim::write {

/// Tells which process of which run has made the spool.
struct SpoolHead {
  ProcessIdentity process;
  std::int64_t began_ns = 0, last_sign_ns = 0;      // of life, since the epoch; 0 = unknown
  std::string run_id, run_name, folder, spec_hash;  // "" = unknown
  int rank = -1;
  int attempt = 0;  // of torchrun
};

class SpoolFile {
 public:
  SpoolFile(std::string path, int folder_fd);
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  int error() const { return error_; }
  uid_t owner() const { return found_.st_uid; }
  std::uint64_t bytes_in_use() const { return static_cast<std::uint64_t>(found_.st_blocks) * 512; }
  /// Holds the lock until destruction. Returns false if another process recovers or has deleted the file.
  bool lock();

  /// Returns false for a file that is no spool of this version. Maps nothing: another user may truncate the file.
  bool read_head(SpoolHead& head) const;
  std::unique_ptr<spool::View> view(bool copied, const std::function<bool()>& give_up, std::string& why_not);
  bool remove() const;
  /// Stores the inode of the window's trace in the spool (spool::Window::file): if this process is killed before it
  /// removes the spool, the next one keeps the trace.
  void note_trace(std::uint64_t window_at, std::uint64_t inode) const;

 private:
  bool read_at(std::uint64_t at, void* to, std::size_t size) const;
  std::string read_string(const spool::SpoolHeader& header, StringId id) const;
  void read_metadata(const spool::SpoolHeader& header, SpoolHead& head) const;
  void read_signs_of_life(const spool::SpoolHeader& header, SpoolHead& head) const;
  bool copy(const std::function<bool()>& give_up);

  const std::string path_;
  const int folder_fd_;
  Descriptor fd_;
  struct stat found_ {};
  int error_ = 0;
  void* copy_ = nullptr;
};

}  // namespace profshim::write
