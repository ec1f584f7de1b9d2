#pragma once

#include <sys/stat.h>

namespace profshim::cli {

/// While an object lives, root acts as the owner of `file`, in the whole process: new files belong to the owner.
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
