// The next definition of a function that this library exports.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace profshim::inject {

/// The first get() looks the function up. Our constructors call it, because a signal handler or vfork() child must not.
/// Another library's constructor may run before ours.
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
