#pragma once

namespace profshim {

/// Returns -1 unless the value is an integer >= 0.
int number_in_environment(const char* variable);

}  // namespace profshim
