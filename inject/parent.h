// The process that made this one: by a fork of any kind, or by starting this program. It tells its children in
// PROFSHIM_ACTIVE if it records. A child that has the rank of its parent may be a helper, such as a data-loader worker.
#pragma once

#include "profshim/base/rank.h"

namespace profshim::inject {

/// Library's constructor only.
void note_parent();

/// Call before all that may activate this process, and if process_words.is_known is false. Its first call in a child of
/// a fork forgets the state of the parent. Returns false while another thread does so: call again later. Any thread.
bool know_process();

/// True if the parent records or waits for its rank, or this process is its fork.
bool has_parent();
bool has_recording_parent();
/// True if an ancestor had the library, whatever it did.
bool has_loaded_ancestor();
/// True in a child of a fork: locks of other libraries, which a thread of the parent held, may stay locked.
bool is_forked();
/// True if this process has no rank or that of its parent.
bool is_rank_of_parent(const Rank& rank);
/// Returns the rank of the environment, unless it is that of the parent, or none: then the rank in the group, as
/// rank_from_program() does.
Rank rank_in_group(int rank, int size, const char* source);

/// Tell later children that this process records, or waits for its rank.
void tell_children_recording();
void tell_children_waiting();

}  // namespace profshim::inject
