#pragma once

#include <string>
#include <vector>

#include "profshim/analysis/groups.h"

namespace profshim::cli {

/// Reads the heads of the traces, unless there is one only.
std::vector<TraceGroup> groups_of(const std::vector<std::string>& files, bool several_runs = false);

/// "Group 2: Trial, rank 0 of 1, in FOLDER"
std::string group_heading(const TraceGroup& group, std::size_t number);

/// Prints the groups if there are several, as the reason why `command` cannot take them together.
bool refuse_groups(const std::string& command, const std::vector<TraceGroup>& groups);

}  // namespace profshim::cli
