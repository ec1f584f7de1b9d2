#pragma once

#include <string>

namespace profshim::e2e {

std::string shim_path();
std::string tool_path();
/// `relative` is a path below build/.
std::string built(const std::string& relative);
bool on_path(const std::string& name);

}  // namespace profshim::e2e
