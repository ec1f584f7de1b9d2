// PyTorch's binary interface for observers, the same from 1.13 to 2.x. Source: aten/src/ATen/record_function.h.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace profshim::torch {

/// at::ObserverContext, declared for its virtual table only.
struct ObserverContext {
  virtual ~ObserverContext() = default;
};

/// at::RecordScope
enum class Scope : int { kFunction = 0, kBackwardFunction = 1, kTorchScript = 2, kUser = 7 };

/// at::RecordFunctionCallback, passed by value.
struct Callback {
  using Start = std::unique_ptr<ObserverContext> (*)(const void* record_function);
  using End = void (*)(const void* record_function, ObserverContext*);
  Start start = nullptr;
  End end = nullptr;
  double sampling_probability = 1.0;
  bool scopes[10] = {};
  bool needs_inputs = false, needs_outputs = false, needs_ids = false;
};
static_assert(sizeof(Callback) == 40 && std::is_trivially_copyable_v<Callback>);

inline constexpr char kAddCallback[] = "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE";
inline constexpr char kRemoveCallback[] = "_ZN2at14removeCallbackEm";
inline constexpr char kName[] = "_ZNK2at14RecordFunction4nameEv";
using AddCallback = std::uint64_t (*)(Callback);
using RemoveCallback = void (*)(std::uint64_t);
using Name = const char* (*)(const void* record_function);

}  // namespace profshim::torch
