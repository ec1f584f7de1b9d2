#include "profshim/memory_room.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "cgroup_memory.h"
#include "profshim/recorder_control.h"
#include "profshim/spec.h"

namespace profshim::recorder {
namespace {

// The recording takes at most 1/kShare of free memory.
constexpr std::uint64_t kShare = 8;
constexpr std::uint64_t kShareOfCgroup = 16;  // a full cgroup kills the job
constexpr std::uint64_t kShareOfFree = 16;    // of a file system's free space, each time the spool grows
constexpr std::uint64_t kLeftToTheJob = 256 << 20;
// Address space of the collector and writer threads: stacks, and 64 MiB of malloc each.
constexpr std::uint64_t kThreadsSpace = 130ull << 20;
// The smallest spool and profshim's threads take at most a fifth of this.
constexpr std::uint64_t kEnoughSpace = 768ull << 20;
constexpr std::uint64_t kUnknown = CgroupMemory::kUnlimited;

std::uint64_t address_space_left(const char* statm) {
  std::uint64_t left = kUnknown;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  char room[128];
  const std::string_view text = read_start(statm, room, sizeof room);
  // statm: size resident shared text lib data dt
  std::uint64_t values[6] = {};
  std::string_view rest = text;
  for (std::uint64_t& value : values) {
    value = number_after(rest.substr(0, rest.find('\n')), "", 0);
    const std::size_t blank = rest.find(' ');
    rest = blank == std::string_view::npos ? std::string_view() : rest.substr(blank + 1);
  }
  for (const auto& [resource, pages] : {std::pair{RLIMIT_AS, values[0]}, std::pair{RLIMIT_DATA, values[5]}}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) continue;
    const std::uint64_t used = text.empty() ? limit.rlim_cur / 2 : pages * page;
    left = std::min<std::uint64_t>(left, limit.rlim_cur > used ? limit.rlim_cur - used : 0);
  }
  return left;
}

std::uint64_t share_of_space(std::uint64_t left) {
  const std::uint64_t share = left / kShare;
  const std::uint64_t least = left >= kEnoughSpace ? kLeastMemory : 0;
  return std::max(share > kThreadsSpace ? share - kThreadsSpace : 0, least);
}

struct FileSystem {
  std::uint64_t whole = 0, spare = 0;  // spare: free minus a reserve for the job
};

FileSystem look_at(const std::string& folder) {
  struct statvfs s {};
  if (statvfs(folder.c_str(), &s) != 0) return {};
  const std::uint64_t whole = std::uint64_t{s.f_blocks} * s.f_frsize, free = std::uint64_t{s.f_bavail} * s.f_frsize;
  const std::uint64_t left = std::min(whole / 4, kLeftToTheJob);
  return {whole, free > left ? free - left : 0};
}

}  // namespace

struct MemoryRoom::Cgroups {
  explicit Cgroups(const std::string& root) : memory(root) {}
  CgroupMemory memory;
};

const char* reason_of(Bound bound) {
  switch (bound) {
    case Bound::kHostMemory:
      return "limits.host_memory";
    case Bound::kCgroup:
      return "the memory limit of the job (cgroup) leaves no more room";
    case Bound::kAddressSpace:
      return "the limit on address space (ulimit -v, -d) leaves no more room";
    case Bound::kMachine:
      return "the machine has no more host memory to spare";
    case Bound::kFileSystem:
      return "no space left for profshim's buffer file (limits.spool_folder)";
  }
  return "";
}

MemoryRoom::MemoryRoom(std::uint64_t host_memory, std::uint64_t sharers, const std::string& root)
    : host_memory_(host_memory),
      sharers_(std::max<std::uint64_t>(sharers, 1)),
      meminfo_(root + "/proc/meminfo"),
      statm_(root + "/proc/self/statm"),
      cgroups_(std::make_unique<const Cgroups>(root)) {
  char room[16];
  const std::string path = root + "/proc/sys/vm/overcommit_memory";
  strict_overcommit_ = number_after(read_start(path.c_str(), room, sizeof room), "", 0) == 2;
}

MemoryRoom::~MemoryRoom() = default;

Room MemoryRoom::now(std::uint64_t held, std::uint64_t mapped) const {
  Room room{host_memory_, Bound::kHostMemory};
  const auto bound_by = [&room](std::uint64_t bytes, Bound bound) {
    if (bytes < room.bytes) room = {bytes, bound, room.pressed_by};
  };
  const auto shared = [&](std::uint64_t left, std::uint64_t share, Bound bound) {
    if (left == kUnknown) return;
    bound_by((left + held * sharers_) / share / sharers_, bound);
    if (left < held * sharers_) room.pressed_by = bound;
  };
  shared(cgroups_->memory.available(), kShareOfCgroup, Bound::kCgroup);

  char text[4096];
  const std::string_view meminfo = read_start(meminfo_.c_str(), text, sizeof text);
  const auto bytes_of = [meminfo](std::string_view key) {
    const std::uint64_t kib = number_after(meminfo, key, kUnknown);
    return kib == kUnknown ? kUnknown : kib << 10;
  };
  shared(bytes_of("MemAvailable:"), kShare, Bound::kMachine);
  if (strict_overcommit_) {
    const std::uint64_t limit = bytes_of("CommitLimit:"), used = bytes_of("Committed_AS:");
    shared(limit == kUnknown ? kUnknown : limit - std::min(limit, used), kShare, Bound::kMachine);
  }

  if (const std::uint64_t left = address_space_left(statm_.c_str()); left != kUnknown) {
    bound_by(share_of_space(left + mapped), Bound::kAddressSpace);
    if (left < mapped) room.pressed_by = Bound::kAddressSpace;
  }
  if (!folder_.empty()) {
    const FileSystem files = look_at(folder_);
    bound_by(std::min(files.whole / kShare / sharers_, held + files.spare / kShareOfFree), Bound::kFileSystem);
  }
  return room;
}

std::uint64_t MemoryRoom::room_in(const std::string& folder) const {
  const FileSystem files = look_at(folder);
  return std::min(files.whole / kShare, files.spare) / sharers_;
}

bool address_space_is_scarce() {
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) return true;
  }
  char room[16];
  return number_after(read_start("/proc/sys/vm/overcommit_memory", room, sizeof room), "", 0) == 2;
}

}  // namespace profshim::recorder
