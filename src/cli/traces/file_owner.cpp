#include "file_owner.h"

#include <grp.h>
#include <unistd.h>

namespace profshim::cli {

ActAsOwner::ActAsOwner(const struct stat& file) {
  if (geteuid() != 0 || file.st_uid == 0) return;
  changed_ = true;
  // The owner's umask is unknown: derive it from the folder's mode.
  umask_before_ = umask(0);
  umask(umask_before_ | (S_ISDIR(file.st_mode) ? ~file.st_mode & 0777 : 077));
  ok_ = setgroups(0, nullptr) == 0 && setegid(file.st_gid) == 0 && seteuid(file.st_uid) == 0;
}

ActAsOwner::~ActAsOwner() {
  if (!changed_) return;
  // Root's supplementary groups stay dropped: nothing needs them.
  if (seteuid(getuid()) == 0) (void)!setegid(getgid());
  umask(umask_before_);
}

}  // namespace profshim::cli
