#pragma once

#include <string>

namespace profshim::log {

/// Sends lines that stderr cannot take to FOLDER/profshim-rankN.log, earlier lines included. Thread-safe; call once per
/// session.
void set_run_folder(const std::string& folder, int rank);
/// In a child of a fork, whose parent had a run folder and a rank. A thread of the parent may have held the lock.
void leave_parent();

/// True if log lines may go to the replacement of descriptor 2 (rule: src/base/log/log_target.cpp).
bool replaced_stderr_is_a_log();
/// `path`: target of /proc/self/fd/2. `same_as_stdout`: descriptor 1 is the same file.
bool is_name_of_a_log(const char* path, bool same_as_stdout);

}  // namespace profshim::log
