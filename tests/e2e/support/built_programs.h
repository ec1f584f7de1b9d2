// The paths of the programs that the tests run.
#pragma once

#include <string>

namespace profshim::e2e {

/// The library under test and the tool, as built.
std::string shim_path();
std::string tool_path();
/// A program that the build put under build/ ("tests/apps/openmpi/ring_isend"). The test fails when it is not there.
std::string built(const std::string& relative);
/// True when `name` is an executable on PATH.
bool on_path(const std::string& name);

}  // namespace profshim::e2e
