// The destination of log lines once descriptor 2 is no longer the original stderr.
#pragma once

#include <string>

namespace profshim::log {

/// From now on, lines that stderr cannot take go to FOLDER/profshim-rankN.log, also those that have waited.
/// Thread-safe; call once per session.
void set_run_folder(const std::string& folder, int rank);

/// True if log lines may go to the replacement of descriptor 2 (rule: src/base/log/log_target.cpp).
bool replaced_stderr_is_a_log();
/// True if a regular file with this name is a log. `path`: target of /proc/self/fd/2; `same_as_stdout`: descriptor 1 is
/// the same file.
bool is_name_of_a_log(const char* path, bool same_as_stdout);

}  // namespace profshim::log
