// A memory cgroup for one test, below that of the test program.
#pragma once

#include <cstdint>
#include <string>

namespace profshim::e2e {

class MemoryCgroup {
 public:
  explicit MemoryCgroup(std::uint64_t bytes);
  ~MemoryCgroup();
  MemoryCgroup(const MemoryCgroup&) = delete;
  MemoryCgroup& operator=(const MemoryCgroup&) = delete;
  /// Returns why the cgroup could not be made, "" if it was made.
  const std::string& why_not() const { return why_not_; }
  /// Moves the calling process into the cgroup. It does not allocate, so Job::before_exec can call it.
  bool enter() const;

 private:
  std::string folder_, members_, why_not_;
};

}  // namespace profshim::e2e
