// Parsers of texts of /proc and of cgroups. A missing, malformed or too large number is no value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace profshim::session {

/// Clock ticks of all CPUs.
struct MachineTicks {
  std::uint64_t busy = 0, all = 0;
};
/// Of /proc/stat.
std::optional<MachineTicks> parse_machine_ticks(std::string_view text);

struct ProcessStatus {
  std::optional<std::uint64_t> memory_bytes, peak_bytes, threads;
};
/// Of /proc/self/status.
ProcessStatus parse_status(std::string_view text);

/// Returns the bytes of MemAvailable in /proc/meminfo.
std::optional<std::uint64_t> parse_available(std::string_view text);

struct TwoCounts {
  std::uint64_t in = 0, out = 0;
};
/// Returns the bytes read and written of /proc/self/io.
std::optional<TwoCounts> parse_io(std::string_view text);
/// Returns the bytes received and sent of /proc/net/dev: the sum of all interfaces but lo.
std::optional<TwoCounts> parse_net(std::string_view text);

struct MemoryCgroup {
  bool is_v2 = false;
  std::string path;  // below the hierarchy's mount
};
/// Of /proc/self/cgroup: prefers the memory controller of version 1, which has the limit where both are mounted.
std::optional<MemoryCgroup> parse_memory_cgroup(std::string_view text);

/// Parses a number that a blank, a newline or the end of the text follows.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// Returns the path of the file with the bytes that the process's cgroup uses, or the nearest cgroup above it that has
/// a limit; "" if none has.
std::string limited_memory_file();

}  // namespace profshim::session
