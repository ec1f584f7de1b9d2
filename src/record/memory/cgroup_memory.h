#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace profshim::recorder {

/// Returns "" if the file is unreadable. Does not allocate.
std::string_view read_start(const char* path, char* room, std::size_t size);
/// Returns the number after `key` in the first line that begins with `key`.
std::uint64_t number_after(std::string_view text, std::string_view key, std::uint64_t otherwise);

/// The process's cgroups of version 1 and 2, with all parents.
class CgroupMemory {
 public:
  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
  explicit CgroupMemory(const std::string& root);
  /// Returns the bytes below the tightest limit; droppable page cache counts as free. Does not allocate.
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
