#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace profshim::session {

/// For steps.source = "kernel". Matches a glob, ignoring case, against the mangled name, and the demangled name with
/// and without parameters.
class KernelNames {
 public:
  explicit KernelNames(const std::string& pattern);
  /// Thread-safe, lock-free.
  bool matches(const char* name);

 private:
  bool matches_pattern(const char* name) const;
  static constexpr std::size_t kSlots = 4096;
  std::string pattern_;
  /// Hashes of names, with the answer in the lowest bit; 0 = free. A name whose slot is taken is demangled each time.
  std::atomic<std::uint64_t> known_[kSlots] = {};
};

}  // namespace profshim::session
