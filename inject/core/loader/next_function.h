#pragma once

#include <atomic>

#include "real_dlsym.h"

namespace profshim::inject {

/// Make the first get() in a constructor: a signal handler or vfork() child must not call dlsym().
template <class Function>
class NextFunction {
 public:
  constexpr explicit NextFunction(const char* name) : name_(name) {}
  Function get() {
    Function function = function_.load(std::memory_order_relaxed);
    if (function == nullptr) function_ = function = reinterpret_cast<Function>(next_symbol(name_));
    return function;
  }

 private:
  const char* const name_;
  std::atomic<Function> function_{nullptr};
};

}  // namespace profshim::inject
