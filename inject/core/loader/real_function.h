#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profshim/event.h"
#include "real_dlsym.h"

namespace profshim::inject {

/// Any thread. get() repeats a failed lookup, because the library may be loaded later.
class RealFunction {
 public:
  template <std::size_t n>
  void* get(Layer layer, const char* const (&names)[n]) {
    void* const found = address_.load(std::memory_order_acquire);
    return __builtin_expect(found != nullptr, 1) ? found : look_up(layer, names, n);
  }
  /// Makes `found`, which a lookup by handle found in a library of the layer, the result of get(). Returns false if
  /// get() returns another function: of a second library, or of a tool between this library and `found`.
  bool adopt(const char* name, void* found);

 private:
  [[gnu::noinline]] void* look_up(Layer layer, const char* const* names, std::size_t n);
  std::atomic<void*> address_{nullptr};
};

/// Hooks of functions that have no row in hooks/*.def: they look up functions of the CUDA driver.
enum class OtherHook : std::uint8_t {
#define HOOK(name) name,
#include "inject/core/driver_lookups.def"
#undef HOOK
  kCount
};

namespace detail {
inline constexpr auto kHooks = static_cast<std::size_t>(HookId::kCount);
inline constexpr auto kOtherHooks = static_cast<std::size_t>(OtherHook::kCount);
extern constinit std::array<RealFunction, kHooks + kOtherHooks> real_functions;
}  // namespace detail

/// The real function behind the hook of a row: what its calls forward to, and what inject/lookup compares with.
inline RealFunction& real_function(HookId hook) { return detail::real_functions[static_cast<std::size_t>(hook)]; }
inline RealFunction& real_function(OtherHook hook) {
  return detail::real_functions[detail::kHooks + static_cast<std::size_t>(hook)];
}

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
