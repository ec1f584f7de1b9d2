#pragma once

#include <atomic>
#include <cstddef>

#include "profshim/event.h"

namespace profshim::inject {

/// Any thread. get() repeats a failed lookup, because the library may be loaded later.
class RealFunction {
 public:
  template <std::size_t n>
  void* get(Layer layer, const char* const (&names)[n]) {
    void* const found = address_.load(std::memory_order_acquire);
    return __builtin_expect(found != nullptr, 1) ? found : look_up(layer, names, n);
  }

 private:
  [[gnu::noinline]] void* look_up(Layer layer, const char* const* names, std::size_t n);
  std::atomic<void*> address_{nullptr};
};

template <class Signature>
class NamedFunction {
 public:
  constexpr NamedFunction(Layer layer, const char* name) : layer_(layer), names_{name} {}
  const char* name() const { return names_[0]; }
  Signature* get() { return reinterpret_cast<Signature*>(function_.get(layer_, names_)); }

 private:
  const Layer layer_;
  const char* const names_[1];
  RealFunction function_;
};

}  // namespace profshim::inject
