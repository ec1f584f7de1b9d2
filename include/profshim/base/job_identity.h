// The identity of a job: the same on all ranks, different for the next job.
#pragma once

#include <cstdint>
#include <string>

namespace profshim {

/// Made from the scheduler's job id, the MPI namespace, or the start of the launcher.
struct JobIdentity {
  std::string key;
  std::string readable;  // for the default run name: "slurm-4711", "20261121-101502-4242"
  /// Address where ranks on several hosts meet, if the job has no id (torchrun with --master-addr): "node1:29500/16".
  /// Each host then has its own launcher, so `key` covers this host only.
  std::string rendezvous = {};
  std::string host = {};
  std::int64_t started_s = 0;  // start of the launcher, since the epoch
};
JobIdentity job_identity();

}  // namespace profshim
