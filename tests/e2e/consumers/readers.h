// Runs common readers of traces (tests/e2e/consumers). scripts/consumers_venv.sh makes their Python.
#pragma once

#include <string>
#include <vector>

#include "e2e/support/run_under_shim.h"

namespace profshim::e2e {

/// Runs one of the scripts. Fails the test if their Python is missing.
Outcome ask_reader(const std::string& script, const std::vector<std::string>& arguments);

}  // namespace profshim::e2e
