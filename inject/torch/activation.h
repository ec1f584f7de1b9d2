#pragma once

#include <cstdint>

namespace profshim::torch {

enum class Activation : std::uint8_t {
  kRetry,
  kRetryAtRange,  // operators cannot show the rank: call for ranges only
  kDone,
};
/// Call at each operator (`range` null) or range (its name) until kDone. Any thread.
Activation try_to_activate(const char* range);

/// True if PyTorch ranges make the steps, WORLD_SIZE is above 1, and this process has no rank yet. CUDA calls must not
/// activate such a process, because init_process_group() will. Any thread.
bool waits_for_group();

/// Call when torch.distributed has put this process into a group. Job's thread.
void activate_as_member(int rank, int size);

/// Call in a child of a fork. Returns false if this process prepares data for others.
bool leave_parents_activation();

}  // namespace profshim::torch
