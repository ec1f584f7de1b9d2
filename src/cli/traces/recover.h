#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "profshim/write/recover.h"

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

using write::RecoverNote;

/// Recovers spools of processes that began at `began_since_ns` or later. Notes recovered traces, failures and processes
/// that are still running.
void recover_quietly(const std::string& folder, std::int64_t began_since_ns, std::vector<RecoverNote>& notes);

/// Names this user's runs that were killed and have no folder anymore, with the command that writes their traces.
/// `folders`: where ranks keep their events.
void print_left_runs(std::FILE* to, const std::set<std::string>& folders);

}  // namespace profshim::cli
