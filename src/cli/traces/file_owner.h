#pragma once

#include <sys/stat.h>

namespace profshim::cli {

/// While an object lives, new files get the owner's permissions, and root reaches only the owner's files. This holds
/// for the whole process.
class ActAsOwner {
 public:
  explicit ActAsOwner(const struct stat& file);
  ~ActAsOwner();
  ActAsOwner(const ActAsOwner&) = delete;
  ActAsOwner& operator=(const ActAsOwner&) = delete;
  bool ok() const { return ok_; }

 private:
  bool changed_ = false, ok_ = true;
  mode_t umask_before_ = 0;
};

}  // namespace profshim::cli
