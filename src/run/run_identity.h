// The file .profshim-run of a run folder tells which run the folder holds.
#pragma once

#include <cstdint>
#include <string>

#include "profshim/base/job_identity.h"
#include "profshim/base/process_identity.h"

namespace profshim::run {

struct RunIdentity {
  JobIdentity job;
  std::string id = {};  // random: no two runs have the same; "" = made by an earlier version
  std::string run_name = {};
  std::int64_t base_time_ns = 0;
  ProcessIdentity creator = {};
  int rank = -1, world_size = -1;  // the creator's, as is `role`
  std::string role = {};
  std::int64_t created_ns = 0;
};

std::string to_text(const RunIdentity& identity);

/// Returns false if there is no such file, or if its owner is not root, we or the folder's owner: the file sets our
/// base time.
bool read_run_identity(int folder_fd, RunIdentity& identity);

}  // namespace profshim::run
