// PyTorch jobs without MPI: decides whether a process is a rank, and starts its session.
#pragma once

#include <cstdint>

namespace profshim::torch {

/// Constructor only, before the program changes the environment.
void note_start();

enum class Activation : std::uint8_t {
  kRetry,
  kRetryAtRange,  // operators cannot decide
  kDone,
};
/// Called for each operator (null) or range (its name) until activation. Any thread.
Activation try_to_activate(const char* range);

/// True if WORLD_SIZE has several ranks and this process has none yet: init_process_group() will set it, so CUDA calls
/// must not activate. Any thread.
bool waits_for_group();

/// torch.distributed has put this process into a group. Job's thread.
void activate_as_member(int rank, int size);

/// Returns true in a child forked, without exec, after note_start().
bool is_forked_child();

}  // namespace profshim::torch
