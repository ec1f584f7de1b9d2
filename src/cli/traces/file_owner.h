// Root works on a user's files as that user.
#pragma once

#include <sys/stat.h>

namespace profshim::cli {

/// While it exists, root acts as the owner of a file: what is made belongs to him, with the permissions that his folder
/// has, and nothing is reached that he could not reach himself. For anybody else it does nothing.
class ActAsOwner {
 public:
  explicit ActAsOwner(const struct stat& file);
  ~ActAsOwner();
  ActAsOwner(const ActAsOwner&) = delete;
  ActAsOwner& operator=(const ActAsOwner&) = delete;
  /// False: root could not become the owner, and must leave the file alone.
  bool ok() const { return ok_; }

 private:
  bool changed_ = false, ok_ = true;
  mode_t umask_before_ = 0;
};

}  // namespace profshim::cli
