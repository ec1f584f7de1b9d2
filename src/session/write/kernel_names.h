// steps.source = "kernel": matches kernel names against the pattern.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace profshim::session {

/// Matches a glob, ignoring case, against a kernel's mangled name, its demangled name, and the demangled name without
/// its parameter list ("*adam*" finds FusedAdamMathFunctor). The answer for a name is cached.
class KernelNames {
 public:
  explicit KernelNames(const std::string& pattern);
  /// Called at each launch: hashes the name and loads one word. Demangles the name at its first launch. Any thread,
  /// lock-free.
  bool matches(const char* name);

 private:
  bool matches_pattern(const char* name) const;
  static constexpr std::size_t kSlots = 4096;
  std::string pattern_;  // lower case
  /// Hashes of names, with the answer in the lowest bit; 0 = free. A name whose slot is taken by another name is
  /// matched each time.
  std::atomic<std::uint64_t> known_[kSlots] = {};
};

}  // namespace profshim::session
