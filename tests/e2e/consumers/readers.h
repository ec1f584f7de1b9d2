// Runs a script of this folder in the Python of scripts/consumers_venv.sh.
#pragma once

#include <string>
#include <vector>

#include "e2e/support/run_under_shim.h"

namespace profshim::e2e {

/// Returns that Python, which has pyarrow.
std::string readers_python();
Outcome ask_reader(const std::string& script, const std::vector<std::string>& arguments);

}  // namespace profshim::e2e
