#pragma once

#include <cstdio>
#include <set>
#include <string>

namespace profshim::cli {

/// Names this user's runs that were killed and have no folder anymore, with the command that writes their traces.
/// `folders`: where ranks keep their events.
void print_left_runs(std::FILE* to, const std::set<std::string>& folders);

}  // namespace profshim::cli
