#include "memory_cgroup.h"

#include <cstdint>
#include <optional>

#include "proc_text.h"
#include "profshim/base/files.h"

namespace profshim::session {
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
