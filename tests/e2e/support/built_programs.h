// Paths of the programs that the tests run.
#pragma once

#include <string>

namespace profshim::e2e {

std::string shim_path();
std::string tool_path();
/// Returns the path of a program, given below build/. Fails the test if it is not built.
std::string built(const std::string& relative);
bool on_path(const std::string& name);

}  // namespace profshim::e2e
