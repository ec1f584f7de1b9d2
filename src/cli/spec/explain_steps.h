#pragma once

#include <string>

namespace profshim::cli {

/// Prints the loops that a recorded trace shows, and the lines of a spec for its steps. Returns an exit status.
int explain_steps(const std::string& trace, bool json);

}  // namespace profshim::cli
