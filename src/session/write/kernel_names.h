// steps.source = "kernel": which kernels the pattern means.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace profshim::session {

/// A name or glob, matched against a kernel's mangled name, its demangled one, and that without its parameter list; the
/// case of letters does not matter ("*adam*" finds FusedAdamMathFunctor). A name is matched once and remembered.
class KernelNames {
 public:
  explicit KernelNames(const std::string& pattern);
  /// Any thread, at each launch: a hash of the name and one load; at a name's first launch it is demangled. Lock-free.
  bool matches(const char* name);

 private:
  bool look_at(const char* name) const;
  static constexpr std::size_t kSlots = 4096;
  std::string pattern_;  // in small letters
  /// Hashes of names, the lowest bit replaced by the answer; 0 = free. A name that finds its place taken is matched
  /// each time.
  std::atomic<std::uint64_t> known_[kSlots] = {};
};

}  // namespace profshim::session
