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
  const std::string& why_not() const { return why_not_; }
  /// Does not allocate, so Job::before_exec can call it.
  bool enter() const;

 private:
  std::string folder_, members_, why_not_;
};

}  // namespace profshim::e2e
