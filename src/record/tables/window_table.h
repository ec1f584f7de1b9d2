#pragma once

namespace profshim::recorder {

/// In a child of a fork: a thread of the parent may have held the locks.
void free_window_table_locks();

}  // namespace profshim::recorder
