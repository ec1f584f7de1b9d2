#include "cgroup_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "profshim/base/files.h"

namespace profshim::recorder {
namespace {

constexpr std::size_t kFileRoom = 8192;
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;  // version 1 writes a number near 2^63 for "no limit"

std::uint64_t number_in(const std::string& path, std::uint64_t otherwise) {
  char room[64];
  return number_after(read_start(path.c_str(), room, sizeof room), "", otherwise);
}

// Line of /proc/self/cgroup: "4:memory:/job" or "0::/job"
struct Membership {
  std::string path;
  bool found = false;
};

Membership membership(const std::string& text, bool version_2) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool ours = version_2 ? line.starts_with("0::") : controllers.find(",memory,") != std::string::npos;
    if (ours) return {line.substr(second + 1), true};
  }
  return {};
}

struct Mount {
  std::string root, point;
  bool found = false;
};

// mountinfo, see proc(5): "36 35 98:0 ROOT POINT OPTIONS ... - TYPE SOURCE SUPER_OPTIONS"
Mount mount_of(const std::string& text, bool version_2) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash)), after(line.substr(dash + 3));
    std::string skipped, type, source, options;
    Mount mount;
    before >> skipped >> skipped >> skipped >> mount.root >> mount.point;
    after >> type >> source >> options;
    const bool has_memory = ("," + options + ",").find(",memory,") != std::string::npos;
    mount.found = version_2 ? type == "cgroup2" : type == "cgroup" && has_memory;
    if (mount.found) return mount;
  }
  return {};
}

}  // namespace

std::string_view read_start(const char* path, char* room, std::size_t size) {
  const int fd = open_high(path, O_RDONLY);
  if (fd < 0) return {};
  const ssize_t n = read(fd, room, size);
  close(fd);
  return n <= 0 ? std::string_view() : std::string_view(room, static_cast<std::size_t>(n));
}

std::uint64_t number_after(std::string_view text, std::string_view key, std::uint64_t otherwise) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    std::uint64_t value = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), value).ec == std::errc()) return value;
  }
  return otherwise;
}

CgroupMemory::CgroupMemory(const std::string& root) {
  std::string groups, mounts;
  int error = 0;
  if (!read_file(root + "/proc/self/cgroup", groups, error)) return;
  if (!read_file(root + "/proc/self/mountinfo", mounts, error)) return;
  for (const bool version_2 : {false, true}) {
    const Membership member = membership(groups, version_2);
    const Mount mount = mount_of(mounts, version_2);
    if (!member.found || !mount.found) continue;
    // In a cgroup namespace or a partial mount, the paths may have different roots: take the mount point.
    std::string below = member.path;
    const bool inside = mount.root == "/" || below == mount.root || below.starts_with(mount.root + "/");
    below = inside && mount.root != "/" ? below.substr(mount.root.size()) : inside ? below : "";
    if (below == "/" || below.find("..") != std::string::npos) below.clear();
    add_levels(root + mount.point, below, version_2);
  }
}

void CgroupMemory::add_levels(const std::string& mount, std::string below, bool version_2) {
  for (;;) {
    const std::string folder = mount + below + "/";
    Level level;
    if (version_2) {
      level = {{folder + "memory.max", folder + "memory.high"},
               folder + "memory.current",
               folder + "memory.stat",
               "inactive_file "};
    } else {
      level = {{folder + "memory.limit_in_bytes"},
               folder + "memory.usage_in_bytes",
               folder + "memory.stat",
               "total_inactive_file "};
    }
    const bool limited = std::any_of(level.limits.begin(), level.limits.end(),
                                     [](const std::string& limit) { return number_in(limit, kUnlimited) < kNoLimit; });
    if (limited) levels_.push_back(std::move(level));
    if (below.empty()) return;
    below.erase(below.rfind('/'));
  }
}

std::uint64_t CgroupMemory::available() const {
  std::uint64_t least = kUnlimited;
  char room[kFileRoom];
  for (const Level& level : levels_) {
    std::uint64_t limit = kUnlimited;
    for (const std::string& path : level.limits) limit = std::min(limit, number_in(path, kUnlimited));
    if (limit >= kNoLimit) continue;
    const std::uint64_t usage = number_in(level.usage, 0);
    const std::string_view stat = read_start(level.stat.c_str(), room, sizeof room);
    const std::uint64_t used = usage - std::min(usage, number_after(stat, level.reclaimable, 0));
    least = std::min(least, limit > used ? limit - used : 0);
  }
  return least;
}

}  // namespace profshim::recorder
