#include "file_owner.h"

#include <grp.h>
#include <unistd.h>

namespace profshim::cli {

ActAsOwner::ActAsOwner(const struct stat& file) {
  if (geteuid() != 0 || file.st_uid == 0) return;
  changed_ = true;
  // Derive the owner's umask from the mode of the folder, which was created with it.
  umask_before_ = umask(0);
  umask(umask_before_ | (S_ISDIR(file.st_mode) ? ~file.st_mode & 0777 : 077));
  ok_ = setgroups(0, nullptr) == 0 && setegid(file.st_gid) == 0 && seteuid(file.st_uid) == 0;
}

ActAsOwner::~ActAsOwner() {
  if (!changed_) return;
  // Root's supplementary groups are not restored: nothing needs them.
  if (seteuid(getuid()) == 0) (void)!setegid(getgid());
  umask(umask_before_);
}

}  // namespace profshim::cli
