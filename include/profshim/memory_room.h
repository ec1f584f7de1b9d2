// MemoryRoom: computes how much memory a recording may hold without harm to the job. Used before the spool is created,
// then by the collector thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace profshim::recorder {

enum class Bound : std::uint8_t { kHostMemory, kCgroup, kAddressSpace, kMachine, kFileSystem };
inline constexpr std::size_t kBounds = 5;
/// Returns words for messages: "limits.host_memory", "no space left for the spool", ...
const char* reason_of(Bound bound);

struct Room {
  std::uint64_t bytes = 0;  // that the recording may hold
  Bound bound = Bound::kHostMemory;
  std::optional<Bound> pressed_by = {};  // the bound that leaves the job less than the recording holds, if any
};

class MemoryRoom {
 public:
  /// Finds the process's memory cgroups. `sharers`: recorded ranks on this machine. `root`: prefix of /proc and of
  /// cgroup mount points, for tests.
  MemoryRoom(std::uint64_t host_memory, std::uint64_t sharers, const std::string& root = "");
  ~MemoryRoom();
  MemoryRoom(const MemoryRoom&) = delete;
  MemoryRoom& operator=(const MemoryRoom&) = delete;

  /// Returns the room of a recording that holds `held` bytes of memory and `mapped` of address space. Allocates
  /// nothing; ignores unreadable bounds.
  Room now(std::uint64_t held, std::uint64_t mapped) const;
  /// Returns the bytes that this process's spool may take from the file system of `folder`: 1 / `sharers` of an eighth
  /// of its size, or of its free space minus the job's reserve if less. 0 = none or unknown.
  std::uint64_t room_in(const std::string& folder) const;
  /// Sets the spool's folder; "" = none.
  void set_folder(const std::string& folder) { folder_ = folder; }

 private:
  const std::uint64_t host_memory_, sharers_;
  const std::string meminfo_, statm_;
  struct Cgroups;
  std::unique_ptr<const Cgroups> cgroups_;
  bool strict_overcommit_ = false;
  std::string folder_;
};

/// True if address space is limited (RLIMIT_AS, RLIMIT_DATA, strict overcommit).
bool address_space_is_scarce();

}  // namespace profshim::recorder
