// Texts, definitions and problems.
#pragma once

namespace profshim::recorder {

/// Gives the first definitions pages. False when there is no memory.
bool ready_first_definitions();
void reset_definitions();

}  // namespace profshim::recorder
