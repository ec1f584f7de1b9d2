// PyTorch jobs without MPI: decides whether a process that uses PyTorch is a rank, and starts its session.
#pragma once

#include <cstdint>

namespace profshim::torch {

/// Saves the process id and the rank in the environment, before the program changes them. The library's constructor
/// calls this.
void note_start();

enum class Activation : std::uint8_t {
  kRetry,         // not decided yet: try again at the next operator or range
  kRetryAtRange,  // operators cannot decide it: try again at the next range
  kDone,          // decided, whether or not the process is a rank
};
/// Call it for each operator (null) or range (its name) of a process that is not active. If the process is a rank, this
/// activates its session. Any thread.
Activation try_to_activate(const char* range);

/// Returns true if the environment has a WORLD_SIZE of several ranks but no rank of this process. Then CUDA calls must
/// not activate it: init_process_group() will tell its rank. Until then, only a range that makes a step may activate
/// it. Any thread.
bool waits_for_group();

/// torch.distributed has made this process a member of a group. Activates the session if nothing has done so yet. The
/// job's thread.
void activate_as_member(int rank, int size);

/// Returns true in a child that was forked, without exec, from the process that called note_start().
bool is_forked_child();

}  // namespace profshim::torch
