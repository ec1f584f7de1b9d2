#pragma once

namespace profshim::recorder {

/// Returns false without memory.
bool ready_first_definitions();
void reset_definitions();

}  // namespace profshim::recorder
