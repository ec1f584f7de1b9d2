#pragma once

#include <string>

namespace profshim::e2e {

std::string shim_path();
std::string tool_path();
/// `relative` is a path below build/.
std::string built(const std::string& relative);
/// Tells why a job cannot run as another user; "" = it can. Only root can start one, and a folder above the programs
/// may be closed to others, such as /root.
std::string why_no_job_of(unsigned user);
bool on_path(const std::string& name);

}  // namespace profshim::e2e
