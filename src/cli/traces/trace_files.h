#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profshim/analysis/groups.h"

namespace profshim::cli {

/// Also false for hidden files, which are still being written.
bool is_trace_name(std::string_view name);

/// Also returns traces that only a manifest names ("trace.json"). Adds unreadable folders to `unread`.
std::vector<std::string> traces_below(const std::string& folder, std::vector<std::string>& unread);

/// Adds each file once. Returns false if a path is missing, unreadable or without traces. Of a folder with traces of
/// both steps and phases, adds those of phases only if `with_all`; of one with several attempts (torchrun
/// --max-restarts), those of `attempt` (-1 = the newest) unless `with_all`.
bool collect_traces(const std::vector<std::string>& paths, std::vector<std::string>& files, bool with_all = false,
                    int attempt = -1);

/// Help of the option --attempt.
inline constexpr const char* kAttemptHelp =
    "The attempt of torchrun to read in a folder (0, 1, ... after restarts; default: the newest)";

/// Returns a key that all files of one window share.
std::string window_of(const std::string& path);

/// Reads the heads of the traces, unless there is one only.
std::vector<TraceGroup> groups_of(const std::vector<std::string>& files, bool several_runs = false);

/// "Group 2: Trial, rank 0 of 1, in FOLDER"
std::string group_heading(const TraceGroup& group, std::size_t number);

/// Prints the groups if there are several, as the reason why `command` cannot take them together.
bool refuse_groups(const std::string& command, const std::vector<TraceGroup>& groups);

}  // namespace profshim::cli
