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
