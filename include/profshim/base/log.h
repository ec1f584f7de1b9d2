// The log: single lines to stderr or to a file.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <string>

namespace profshim {

enum class LogLevel : std::uint8_t { kQuiet, kError, kWarn, kInfo, kDebug };

namespace log {
/// Remembers which file stderr is, so that no later line goes to another file that the job opened as descriptor 2.
void note_stderr();
void set_level(LogLevel level);
LogLevel level();
/// Sets a file to use instead of stderr; "" = stderr. The file is opened for each line.
void set_file(std::string path);
void set_rank(int rank);
/// Writes "profshim: rank R: text\n" with one write(2); drops lines above the level. Any thread; not for the hot path.
[[gnu::format(printf, 2, 3)]] void line(LogLevel level, const char* format, ...);
}  // namespace log

}  // namespace profshim
