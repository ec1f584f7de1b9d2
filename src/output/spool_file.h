// A spool on disk or in memory, held by a descriptor: whatever is looked at, locked, read and removed is one file.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profshim/base/process_identity.h"
#include "profshim/base/safe_files.h"
#include "profshim/spool.h"

namespace profshim::output {

class SpoolFile {
 public:
  /// Opens a regular file; `folder_fd`: where a relative path starts. error() tells when it could not.
  SpoolFile(std::string path, int folder_fd);
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  int error() const { return error_; }
  uid_t owner() const { return found_.st_uid; }
  std::uint64_t bytes_in_use() const { return static_cast<std::uint64_t>(found_.st_blocks) * 512; }
  /// True while nobody else recovers it: held until the end of this object. False as well when it is gone.
  bool lock();

  /// The identity that its process wrote, and its last sign of life; false when it is no spool.
  bool read_process(ProcessIdentity& process, std::int64_t& last_sign_ns) const;
  /// All of it: mapped, or read into memory where `copied`. Null and a reason when it is no spool.
  std::unique_ptr<spool::View> view(bool copied, std::string& why_not);
  /// Removes the directory entry, while it is still this file.
  bool remove() const;

 private:
  bool read_at(std::uint64_t at, void* to, std::size_t size) const;
  std::string read_string(const spool::SpoolHeader& header, StringId id) const;
  bool copy();

  const std::string path_;
  const int folder_fd_;
  Descriptor fd_;
  struct stat found_ {};
  int error_ = 0;
  void* copy_ = nullptr;
};

}  // namespace profshim::output
