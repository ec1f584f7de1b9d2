// Computes how much memory a recording may hold without harm to the job.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace profshim::recorder {

enum class Bound : std::uint8_t { kHostMemory, kCgroup, kAddressSpace, kMachine, kFileSystem };
inline constexpr std::size_t kBounds = 5;
const char* reason_of(Bound bound);

struct Room {
  std::uint64_t bytes = 0;               // that the recording may hold
  Bound bound = Bound::kHostMemory;      // sets `bytes`
  std::optional<Bound> pressed_by = {};  // bound that leaves the job less than all recordings hold, if any
};

class MemoryRoom {
 public:
  /// `sharers`: recorded ranks on this machine. `root`: prefix of /proc and of cgroup mount points, for tests.
  MemoryRoom(std::uint64_t host_memory, std::uint64_t sharers, const std::string& root = "");
  ~MemoryRoom();
  MemoryRoom(const MemoryRoom&) = delete;
  MemoryRoom& operator=(const MemoryRoom&) = delete;

  /// `held`: bytes that the recording holds. `mapped`: address space of the spool, in bytes. Ignores unreadable bounds.
  Room now(std::uint64_t held, std::uint64_t mapped) const;
  /// Returns the bytes that this process's spool may take from the file system of `folder`. 0 = none or unknown.
  std::uint64_t room_in(const std::string& folder) const;
  /// `folder`: of the spool; "" = none.
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
