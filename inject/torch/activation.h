// PyTorch jobs without MPI: how we notice that PyTorch has come, and when its process is taken for a rank.
#pragma once

#include <cstdint>

namespace profshim::torch {

/// The constructor's part: what the environment says of the rank before the program has changed it.
void note_start();

enum class Known : std::uint8_t {
  kNo,         // ask again
  kNotByThis,  // operators tell no more: ask at the next range
  kYes,        // for good
};
/// An operator (null) or a range of that name in a process that is not active: if it is a rank, the session begins now.
/// Any thread.
Known activate_once(const char* range);

/// The environment says that there are other ranks and not which one this process is: init_process_group() will, and
/// until then, or until a range makes a step, CUDA tells nothing. Any thread.
bool waits_for_group();

/// torch.distributed has made this process a member of a group, before it has shown its rank in another way. Its
/// thread.
void activate_as_member(int rank, int size);

/// Of the process that note_start() was called in.
bool is_forked_child();

}  // namespace profshim::torch
