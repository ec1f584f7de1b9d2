#include "memory_cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace profshim::e2e {
namespace {

bool write_number(const std::string& path, std::uint64_t number) {
  std::ofstream file(path);
  file << number;
  file.close();
  return !file.fail();
}

// Returns the folder of this process's memory cgroup, or "" if it may not be divided.
std::string own_folder(bool& version_2) {
  std::ifstream file("/proc/self/cgroup");
  std::string unified;
  for (std::string line; std::getline(file, line);) {
    const std::size_t second = line.find(':', line.find(':') + 1);
    if (line.find(":memory:") != std::string::npos) return "/sys/fs/cgroup/memory" + line.substr(second + 1);
    if (line.starts_with("0::")) unified = "/sys/fs/cgroup" + line.substr(second + 1);
  }
  version_2 = true;
  return access((unified + "/cgroup.subtree_control").c_str(), W_OK) == 0 ? unified : "";
}

}  // namespace

MemoryCgroup::MemoryCgroup(std::uint64_t bytes) {
  bool version_2 = false;
  const std::string own = own_folder(version_2);
  if (own.empty()) {
    why_not_ = "this process has no memory cgroup that it may divide";
    return;
  }
  if (version_2) std::ofstream(own + "/cgroup.subtree_control") << "+memory";
  static int count = 0;
  folder_ = own + "/profshim-test-" + std::to_string(getpid()) + "-" + std::to_string(++count);
  if (mkdir(folder_.c_str(), 0755) != 0) {
    why_not_ = folder_ + ": " + std::strerror(errno);
    folder_.clear();
    return;
  }
  if (!write_number(folder_ + (version_2 ? "/memory.max" : "/memory.limit_in_bytes"), bytes)) {
    why_not_ = folder_ + ": its limit cannot be set";
  }
  members_ = folder_ + "/cgroup.procs";
}

MemoryCgroup::~MemoryCgroup() {
  if (!folder_.empty()) rmdir(folder_.c_str());
}

bool MemoryCgroup::enter() const {
  const int fd = open(members_.c_str(), O_WRONLY | O_CLOEXEC);
  const bool entered = fd >= 0 && write(fd, "0", 1) == 1;
  if (fd >= 0) close(fd);
  return entered;
}

}  // namespace profshim::e2e
