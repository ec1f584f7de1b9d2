// A memory cgroup of a test's own, below that of the test.
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
  /// "" when it could be made.
  const std::string& why_not() const { return why_not_; }
  /// Puts the calling process into it; for Job::before_exec: no allocation.
  bool enter() const;

 private:
  std::string folder_, members_, why_not_;
};

}  // namespace profshim::e2e
