#pragma once

namespace profshim {

/// Returns -1 unless the value is an integer from 0 to INT_MAX; blanks and a plus sign may stand before it.
int number_in_environment(const char* variable);

}  // namespace profshim
