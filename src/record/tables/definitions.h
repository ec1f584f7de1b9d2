#pragma once

namespace profshim::recorder {

/// Gives pages to the first definitions. Returns false without memory.
bool ready_first_definitions();
void reset_definitions();

}  // namespace profshim::recorder
