// Reads numbers from environment variables. Any thread that may call getenv().
#pragma once

namespace profshim {

/// Returns the value of the variable if it is an integer >= 0, otherwise -1. `variable` may be null.
int number_in_environment(const char* variable);

}  // namespace profshim
