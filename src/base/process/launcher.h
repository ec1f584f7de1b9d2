// The process that started the ranks of a launch.
#pragma once

#include <vector>

#include "profshim/base/rank.h"

namespace profshim {

/// PIDs.
struct Launcher {
  int pid = 0;      // this process itself, if it is a job of its own or if a shell started it
  int program = 0;  // the process that spawned this one as a part of its program (multiprocessing); else this process
  int shell = 0;    // the shell, remote login or init process that started this rank; 0 = none did
};

/// `rank`: as the process knows it when its recording begins. Reads /proc of the ancestors.
Launcher launcher_of(const Rank& rank);

/// PIDs of the parent and its parents, up to a shell, a remote login or an init process. Reads /proc.
std::vector<int> programs_above();

}  // namespace profshim
