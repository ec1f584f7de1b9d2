// The process that started the ranks of a launch.
#pragma once

#include "profshim/base/rank.h"

namespace profshim {

struct Launcher {
  int pid = 0;      // own PID for a process that is a job of its own, or that a shell started
  int program = 0;  // PID of the first process of the same program: the one that has spawned this one, or the own
  int shell = 0;    // PID of the shell, remote login or init process that started this rank; 0 = none did
};

/// `rank`: as the process knows it when its recording begins. Reads /proc of the ancestors.
Launcher launcher_of(const Rank& rank);

}  // namespace profshim
