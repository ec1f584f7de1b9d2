// The spool's table of definitions.
#pragma once

namespace profshim::recorder {

/// Gives the first 1024 definitions pages. Returns false if there is no memory.
bool ready_first_definitions();
/// Forgets all definitions, for a new spool. No thread may record.
void reset_definitions();

}  // namespace profshim::recorder
