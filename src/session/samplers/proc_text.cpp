#include "proc_text.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>

#include "profshim/base/files.h"

namespace profshim::session {
namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return line;
}

// Returns how many of `numbers` the text begins with.
std::size_t read_numbers(std::string_view text, std::span<std::uint64_t> numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    text = without_blanks(text);
    const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), numbers[i]);
    if (error != std::errc{}) return i;
    text.remove_prefix(static_cast<std::size_t>(next - text.data()));
  }
  return numbers.size();
}

// Returns what follows `key` at the begin of a line.
std::optional<std::string_view> after_key(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.starts_with(key)) return without_blanks(line.substr(key.size()));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) {
  const auto rest = after_key(text, key);
  return rest ? parse_number(*rest) : std::nullopt;
}

// Reads a row such as "VmRSS:     1234 kB".
std::optional<std::uint64_t> bytes_after(std::string_view text, std::string_view key) {
  const auto kilobytes = number_after(text, key);
  std::uint64_t bytes = 0;
  if (!kilobytes || __builtin_mul_overflow(*kilobytes, std::uint64_t{1024}, &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || (next != end && *next != ' ' && *next != '\n')) return std::nullopt;
  return number;
}

// "cpu  user nice system idle iowait irq softirq steal ...": clock ticks of all CPUs (proc(5)). user has guest.
std::optional<MachineTicks> parse_machine_ticks(std::string_view text) {
  const auto rest = after_key(text, "cpu ");
  std::array<std::uint64_t, 8> n{};
  if (!rest || read_numbers(*rest, n) < n.size()) return std::nullopt;
  MachineTicks ticks;
  ticks.busy = n[0] + n[1] + n[2] + n[5] + n[6];
  ticks.all = ticks.busy + n[3] + n[4] + n[7];
  return ticks;
}

ProcessStatus parse_status(std::string_view text) {
  return {bytes_after(text, "VmRSS:"), bytes_after(text, "VmHWM:"), number_after(text, "Threads:")};
}

std::optional<std::uint64_t> parse_available(std::string_view text) { return bytes_after(text, "MemAvailable:"); }

std::optional<TwoCounts> parse_io(std::string_view text) {
  const auto read = number_after(text, "read_bytes:"), written = number_after(text, "write_bytes:");
  if (!read || !written) return std::nullopt;
  return TwoCounts{*read, *written};
}

// Two lines of titles, then "  eth0: bytes packets errs drop fifo frame compressed multicast bytes packets ..." for
// each interface (proc(5)). A long number may follow the colon without a blank.
std::optional<TwoCounts> parse_net(std::string_view text) {
  TwoCounts sum;
  if (take_line(text).find('|') == std::string_view::npos) return std::nullopt;
  take_line(text);
  while (!text.empty()) {
    const std::string_view line = without_blanks(take_line(text));
    const std::size_t colon = line.rfind(':');
    std::array<std::uint64_t, 9> n{};
    if (colon == std::string_view::npos || read_numbers(line.substr(colon + 1), n) < n.size()) return std::nullopt;
    if (line.substr(0, colon) == "lo") continue;
    sum.in += n[0];
    sum.out += n[8];
  }
  return sum;
}

// "hierarchy:controller,controller:path" (cgroups(7)); version 2 has hierarchy 0 without controllers.
std::optional<MemoryCgroup> parse_memory_cgroup(std::string_view text) {
  std::optional<MemoryCgroup> found;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string controllers = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    const std::string_view path = line.substr(second + 1);
    if (controllers.find(",memory,") != std::string::npos) return MemoryCgroup{false, std::string(path)};
    if (line.starts_with("0::")) found = MemoryCgroup{true, std::string(path)};
  }
  return found;
}

namespace {

struct Hierarchy {
  const char *mount, *limit, *use;
};
// Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst of Linux.
constexpr Hierarchy kVersion2 = {"/sys/fs/cgroup", "/memory.max", "/memory.current"};
constexpr Hierarchy kVersion1 = {"/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes"};
// Without a limit, version 1 shows the largest page-aligned number, version 2 the word max.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62;

std::optional<std::uint64_t> limit_of(const std::string& file) {
  std::string text;
  int error = 0;
  if (!read_file(file, text, error)) return std::nullopt;
  return parse_number(text);
}

}  // namespace

std::string limited_memory_file() {
  std::string text;
  int error = 0;
  if (!read_file("/proc/self/cgroup", text, error)) return "";
  const std::optional<MemoryCgroup> cgroup = parse_memory_cgroup(text);
  if (!cgroup) return "";
  const Hierarchy& hierarchy = cgroup->is_v2 ? kVersion2 : kVersion1;
  // In a container, the path may be that of the host: the mount itself is then the container's cgroup.
  for (std::string path = cgroup->path == "/" ? "" : cgroup->path;; path.erase(path.rfind('/'))) {
    const std::optional<std::uint64_t> limit = limit_of(hierarchy.mount + path + hierarchy.limit);
    if (limit && *limit < kNoLimit) return hierarchy.mount + path + hierarchy.use;
    if (path.rfind('/') == std::string::npos) return "";
  }
}

}  // namespace profshim::session
