// The identity of a launch: one start of a job, with all its ranks.
#pragma once

#include <string>

#include "profshim/base/rank.h"

namespace profshim {

struct JobIdentity {
  /// Equal keys = the same launch. From the launch id of MPI or Slurm, or the launcher's PID and start time.
  std::string key;
  /// For the default run name: "slurm-4711.0", "20261121-101502-4242".
  std::string readable = {};
  std::string program = {};  // its name, also for the default run name
  /// Equal on ranks of one launch that were started apart, and so have other keys: on several hosts, in two terminals,
  /// by ssh for each rank. A later launch may have the same. "" = none.
  std::string rendezvous = {};
  /// Words: jobs that have one in common are of one launch. Actors of Ray have keys of their own, and share the session
  /// of their cluster and the process that has started it.
  std::string launch = {};
  /// Words: the processes that started this one, up to a shell or a service. A program that the job runs, such as a
  /// check of the GPU, may be recorded before the job itself.
  std::string ancestors = {};
  /// True if `readable` is equal on all ranks of the launch.
  bool has_common_name = true;
};

/// `rank`: as the process knows it when its recording begins.
JobIdentity job_identity(const Rank& rank);

/// This process in `ancestors` of the processes that it starts: "node7/4711/123456".
std::string own_process_word();

}  // namespace profshim
