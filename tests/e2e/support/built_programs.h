// The paths of the programs that the tests run.
#pragma once

#include <string>

namespace profshim::e2e {

/// These return the paths of the library under test and of the tool.
std::string shim_path();
std::string tool_path();
/// Returns the path of a program under build/ ("tests/apps/openmpi/ring_isend"). Fails the test if it is not built.
std::string built(const std::string& relative);
/// Returns true if `name` is an executable on PATH.
bool on_path(const std::string& name);

}  // namespace profshim::e2e
