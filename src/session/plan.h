#pragma once

#include <signal.h>

#include <string>

#include "profshim/base/job_identity.h"
#include "profshim/base/rank.h"
#include "profshim/spec.h"

namespace profshim::session {

/// The rank, spec and run folder of this recording. Constant once the recording has begun.
struct Plan {
  Spec spec;
  Rank rank;
  JobIdentity job;
  std::string folder, run_name, run_id, rendezvous_file;  // see RunFolder
  int attempt = -1;                // of torchrun, which restarts all ranks; -1 = torchrun has not started this process
  bool is_first_selected = false;  // this rank speaks for all
  bool records_steps = true;       // false: only phases select this rank
  bool records_phases = false;     // phases have windows on this rank
  sigset_t job_signals{};          // signal mask of the thread that called activate()
};

}  // namespace profshim::session
