// The spool's table of definitions.
#pragma once

namespace profshim::recorder {

/// Pages for 1024. False without memory.
bool ready_first_definitions();
/// For a new spool. No thread may record.
void reset_definitions();

}  // namespace profshim::recorder
