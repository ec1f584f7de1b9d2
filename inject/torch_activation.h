// PyTorch jobs without MPI: how we notice that PyTorch has come, and when its process is taken for a rank.
#pragma once

namespace profshim::torch {

/// The constructor's part: what the environment says of the rank before the program has changed it.
void note_start();

/// The first operator or range of a process that is not active: if it is a rank, the session begins now. Any thread.
/// False when that cannot be known yet: ask again.
bool activate_once();

/// Of the process that note_start() was called in.
bool is_forked_child();

}  // namespace profshim::torch
