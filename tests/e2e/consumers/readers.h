// The readers that people use (tests/e2e/consumers). Their Python is made by scripts/consumers_venv.sh.
#pragma once

#include <string>
#include <vector>

#include "e2e/support/run_under_shim.h"

namespace profshim::e2e {

/// Runs one of the scripts; the test fails where their Python is not there.
Outcome ask_reader(const std::string& script, const std::vector<std::string>& arguments);

}  // namespace profshim::e2e
