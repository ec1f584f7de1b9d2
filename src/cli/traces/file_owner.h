// Lets root work on a user's files with the rights of that user.
#pragma once

#include <sys/stat.h>

namespace profshim::cli {

/// While an object exists, root acts as the owner of a file: new files belong to the owner, with the permissions of the
/// owner's folder, and root reaches only files that the owner can reach. Does nothing if the caller is not root. The
/// effective user changes for the whole process.
class ActAsOwner {
 public:
  explicit ActAsOwner(const struct stat& file);
  ~ActAsOwner();
  ActAsOwner(const ActAsOwner&) = delete;
  ActAsOwner& operator=(const ActAsOwner&) = delete;
  /// Returns false if root could not become the owner and must not touch the file.
  bool ok() const { return ok_; }

 private:
  bool changed_ = false, ok_ = true;
  mode_t umask_before_ = 0;
};

}  // namespace profshim::cli
