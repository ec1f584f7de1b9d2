// The destination of log lines if descriptor 2 is not the stderr of the start of the process anymore.
#pragma once

#include <string>

namespace profshim::log {

/// Sets the run folder: lines that stderr cannot take go to FOLDER/profshim-rankN.log from now on. Writes the lines
/// that have waited for the folder. Any thread; once per session.
void set_run_folder(const std::string& folder, int rank);

/// Returns true if descriptor 2 was replaced after the start by something that log lines may be written to. The rule is
/// in src/base/log/log_target.cpp.
bool replaced_stderr_is_a_log();
/// The part of the rule about names. `path` is the target of /proc/self/fd/2; `same_as_stdout`: descriptor 1 is the
/// same file.
bool is_name_of_a_log(const char* path, bool same_as_stdout);

}  // namespace profshim::log
