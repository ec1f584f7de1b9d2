// The real function that a hook forwards to: found at the first call, on any thread, and kept.
#pragma once

#include <atomic>
#include <cstddef>

#include "profshim/event.h"

namespace profshim::inject {

/// Address of the function behind a hook. Any thread. The first call looks it up; while it is not found, each call
/// looks again, because its library may be loaded later. Preserves errno.
class RealFunction {
 public:
  /// Tries the names in order. Returns null if none is found.
  template <std::size_t n>
  void* get(Layer layer, const char* const (&names)[n]) {
    void* const found = address_.load(std::memory_order_acquire);
    return __builtin_expect(found != nullptr, 1) ? found : look_up(layer, names, n);
  }

 private:
  [[gnu::noinline]] void* look_up(Layer layer, const char* const* names, std::size_t n);
  std::atomic<void*> address_{nullptr};
};

/// A RealFunction with one name and a type.
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
