// The spool's table of definitions.
#pragma once

namespace profshim::recorder {

/// Gives 1024 definitions pages; false without memory.
bool ready_first_definitions();
/// For a new spool, while no thread records.
void reset_definitions();

}  // namespace profshim::recorder
