// The functions behind our hooks.
#pragma once

#include <atomic>
#include <cstddef>

#include "profshim/event.h"

namespace profshim::inject {

/// Address of a function behind a hook: looked up at its first call, by whichever thread; looked for again as long as
/// it is not there, since its library may come yet. Keeps errno as the job has it.
class RealFunction {
 public:
  /// Names in the order in which they are tried. Null: it is not there.
  template <std::size_t n>
  void* get(Layer layer, const char* const (&names)[n]) {
    void* const found = address_.load(std::memory_order_acquire);
    return __builtin_expect(found != nullptr, 1) ? found : look_up(layer, names, n);
  }

 private:
  [[gnu::noinline]] void* look_up(Layer layer, const char* const* names, std::size_t n);
  std::atomic<void*> address_{nullptr};
};

/// The same for a function of one name.
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
