// Memory that a recording may hold without harm to the job. Asked before the spool is created, and by the collector
// thread while a window grows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace profshim::recorder {

enum class Bound : std::uint8_t { kHostMemory, kCgroup, kAddressSpace, kMachine, kFileSystem };
inline constexpr std::size_t kBounds = 5;
/// "limits.host_memory", "the memory cgroup has no more room", ...
const char* reason_of(Bound bound);

struct Room {
  std::uint64_t bytes = 0;  // the recording's total
  Bound bound = Bound::kHostMemory;
  std::optional<Bound> pressed_by = {};  // set if the job has less of this left than the recording holds
};

class MemoryRoom {
 public:
  /// Finds the process's memory cgroups. `sharers`: recorded ranks on this machine. `root`: prefix of /proc and of
  /// cgroup mount points, for tests.
  MemoryRoom(std::uint64_t host_memory, std::uint64_t sharers, const std::string& root = "");
  ~MemoryRoom();
  MemoryRoom(const MemoryRoom&) = delete;
  MemoryRoom& operator=(const MemoryRoom&) = delete;

  /// For a recording that holds `held` bytes of memory and `mapped` bytes of address space. Makes a few dozen system
  /// calls, allocates nothing, ignores unreadable bounds.
  Room now(std::uint64_t held, std::uint64_t mapped) const;
  /// Returns the bytes that this process's spool may take from the file system of `folder`: its share of an eighth of
  /// the whole, or of the free space beyond the job's reserve if that is less. 0 = none or unknown.
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

/// Returns true if address space is limited (RLIMIT_AS, RLIMIT_DATA) or mappings count against a fixed sum (strict
/// overcommit).
bool address_space_is_scarce();

}  // namespace profshim::recorder
