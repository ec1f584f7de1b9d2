#pragma once

#include <cstdarg>
#include <cstdint>
#include <string>

namespace profshim {

enum class LogLevel : std::uint8_t { kQuiet, kError, kWarn, kInfo, kDebug };

namespace log {
/// Remembers the file at descriptor 2: no line may go to a file that the job opens later as descriptor 2.
void note_stderr();
void set_level(LogLevel level);
LogLevel level();
/// "" = stderr. The file is opened for each line.
void set_file(std::string path);
void set_rank(int rank);
/// Writes a line with one write(2). Thread-safe; not for the hot path.
[[gnu::format(printf, 2, 3)]] void line(LogLevel level, const char* format, ...);
/// Writes lines as they are, with one write(2). Control characters become blanks. Thread-safe; allocates.
void text(LogLevel level, std::string lines);
}  // namespace log

}  // namespace profshim

namespace profshim::log {

/// Sends lines that stderr cannot take to FOLDER/profshim-rankN.log, earlier lines included. Thread-safe; call once per
/// session.
void set_run_folder(const std::string& folder, int rank);
/// In a child of a fork, whose parent had a run folder and a rank. A thread of the parent may have held the lock.
void leave_parent();

/// True if log lines may go to the replacement of descriptor 2 (rule: src/base/log.cpp).
bool replaced_stderr_is_a_log();
/// `path`: target of /proc/self/fd/2. `same_as_stdout`: descriptor 1 is the same file.
bool is_name_of_a_log(const char* path, bool same_as_stdout);

}  // namespace profshim::log
