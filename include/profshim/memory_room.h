// How much memory a recording may hold without harm to the job. The session asks once before it creates the spool; the
// collector thread asks again while a window grows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace profshim::recorder {

/// The resource that limits a recording first.
enum class Bound : std::uint8_t { kHostMemory, kCgroup, kAddressSpace, kMachine, kFileSystem };
inline constexpr std::size_t kBounds = 5;
/// Returns the reason for closing a window: "limits.host_memory", "the memory cgroup has no more room", ...
const char* reason_of(Bound bound);

struct Room {
  std::uint64_t bytes = 0;  // the recording may hold so much in all
  Bound bound = Bound::kHostMemory;
  std::optional<Bound> pressed_by = {};  // set if the job has less of this left than the recording holds
};

class MemoryRoom {
 public:
  /// Finds the memory cgroups of this process. `sharers`: number of recorded ranks on the same machine. `root` is put
  /// before /proc and before the mount points of cgroups; tests use it.
  MemoryRoom(std::uint64_t host_memory, std::uint64_t sharers, const std::string& root = "");
  ~MemoryRoom();
  MemoryRoom(const MemoryRoom&) = delete;
  MemoryRoom& operator=(const MemoryRoom&) = delete;

  /// Returns the room of a recording that holds `held` bytes of memory and `mapped` bytes of address space already.
  /// Makes a few dozen system calls and allocates nothing. Ignores bounds that cannot be read.
  Room now(std::uint64_t held, std::uint64_t mapped) const;
  /// Returns how many bytes a spool may take from the file system of `folder`: an eighth of it for all sharers
  /// together, without the free part that is reserved for the job. 0 = not known.
  std::uint64_t room_in(const std::string& folder) const;
  /// Sets the folder of the spool; "" = the spool is in no file system.
  void set_folder(const std::string& folder) { folder_ = folder; }

 private:
  const std::uint64_t host_memory_, sharers_;
  const std::string meminfo_, statm_;
  struct Cgroups;
  std::unique_ptr<const Cgroups> cgroups_;
  bool strict_overcommit_ = false;
  std::string folder_;
};

/// Returns true if address space is limited (RLIMIT_AS, RLIMIT_DATA) or mapping counts against a fixed sum (strict
/// overcommit).
bool address_space_is_scarce();

}  // namespace profshim::recorder
