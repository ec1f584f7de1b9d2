// How much memory a recording may hold without harm to the job. The session asks once, before it makes the spool; the
// collector thread asks again while a window grows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace profshim::recorder {

/// The bound that a recording meets first.
enum class Bound : std::uint8_t { kHostMemory, kCgroup, kAddressSpace, kMachine, kFileSystem };
inline constexpr std::size_t kBounds = 5;
/// "limits.host_memory", "the memory cgroup has no more room", ...: the reason why a window was closed.
const char* reason_of(Bound bound);

struct Room {
  std::uint64_t bytes = 0;  // all that the recording may hold
  Bound bound = Bound::kHostMemory;
  std::optional<Bound> pressed_by = {};  // the job has less of this left than the recording holds
};

class MemoryRoom {
 public:
  /// Finds the memory cgroups of this process. `sharers`: recorded ranks that take from the same machine. `root` stands
  /// before /proc and before the mount points of cgroups: for tests.
  MemoryRoom(std::uint64_t host_memory, std::uint64_t sharers, const std::string& root = "");
  ~MemoryRoom();
  MemoryRoom(const MemoryRoom&) = delete;
  MemoryRoom& operator=(const MemoryRoom&) = delete;

  /// For a recording that holds `held` bytes already, `mapped` bytes of address space. A few dozen system calls, no
  /// allocation. Unknown bounds do not count.
  Room now(std::uint64_t held, std::uint64_t mapped) const;
  /// Bytes that a spool may take from the file system of `folder`: an eighth of it, for all sharers together, and not
  /// what the job needs of what is free. 0 = not known.
  std::uint64_t room_in(const std::string& folder) const;
  /// The spool lies in this folder from now on; "" = in no file system.
  void set_folder(const std::string& folder) { folder_ = folder; }

 private:
  const std::uint64_t host_memory_, sharers_;
  const std::string meminfo_, statm_;
  struct Cgroups;
  std::unique_ptr<const Cgroups> cgroups_;
  bool strict_overcommit_ = false;
  std::string folder_;
};

/// The process may not map as much as it likes (RLIMIT_AS), or mapping takes from a bounded sum (strict overcommit).
bool address_space_is_scarce();

}  // namespace profshim::recorder
