// Where log lines go when descriptor 2 is no longer the stderr that the process was started with.
#pragma once

#include <string>

namespace profshim::log {

/// The run folder is known: lines that stderr cannot take go into FOLDER/profshim-rankN.log from here on, those that
/// have waited for it first. Any thread; once per session.
void set_run_folder(const std::string& folder, int rank);

/// May a line be written to descriptor 2, which is not what it was at the start? The rule is in
/// src/base/log_target.cpp.
bool replaced_stderr_is_a_log();
/// The part of the rule that looks at names: of an open file, as /proc/self/fd has it. `same_as_stdout`: descriptor 1
/// is the same file.
bool is_name_of_a_log(const char* path, bool same_as_stdout);

}  // namespace profshim::log
