// The next definition of a function that this library exports: the C library's, or that of a library preloaded later.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace profshim::inject {

/// The first get() looks the function up. This library's constructors call get(), so that no lookup is left for a
/// signal handler or a vfork() child. Another library's constructor may call the function before that.
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
