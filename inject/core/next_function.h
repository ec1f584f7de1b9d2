// The function of the C library (or of a library preloaded after us) that one of ours stands in front of.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace profshim::inject {

/// Looked up at the first get(): a constructor of ours calls it, so that nothing is left to look up in a signal handler
/// or in a vforked child. A constructor of another library may come before that.
template <class Function>
class NextFunction {
 public:
  constexpr explicit NextFunction(const char* name) : name_(name) {}
  Function get() {
    Function function = function_.load(std::memory_order_relaxed);
    if (function == nullptr) function_ = function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name_));
    return function;
  }

 private:
  const char* const name_;
  std::atomic<Function> function_{nullptr};
};

}  // namespace profshim::inject
