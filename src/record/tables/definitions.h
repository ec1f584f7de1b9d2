#pragma once

namespace profshim::recorder {

/// Gives pages to 1024 definitions. Returns false without memory.
bool ready_first_definitions();
/// For a new spool, while no thread records.
void reset_definitions();

}  // namespace profshim::recorder
