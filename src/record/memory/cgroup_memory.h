// The memory that the cgroups of this process leave to it: version 1 and 2, its own cgroup and all parents.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace profshim::recorder {

/// Reads the beginning of a file into `room`; empty if it cannot be read. No allocation.
std::string_view read_start(const char* path, char* room, std::size_t size);
/// Returns the number behind `key` in the first line that begins with it; `otherwise` if there is none.
std::uint64_t number_after(std::string_view text, std::string_view key, std::uint64_t otherwise);

class CgroupMemory {
 public:
  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
  /// Reads ROOT/proc/self/cgroup and ROOT/proc/self/mountinfo.
  explicit CgroupMemory(const std::string& root);
  /// Returns the bytes up to the nearest limit. Page cache that the kernel can drop counts as free. No allocation.
  std::uint64_t available() const;

 private:
  struct Level {
    std::vector<std::string> limits;
    std::string usage, stat;
    const char* reclaimable;  // key in `stat`
  };
  void add_levels(const std::string& mount, std::string below, bool version_2);
  std::vector<Level> levels_;
};

}  // namespace profshim::recorder
