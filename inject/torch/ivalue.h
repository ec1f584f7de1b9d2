#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>

#include "inject/core/loader/resolve.h"
#include "layout.h"
#include "profshim/event.h"

namespace profshim::torch {

using Bytes = const char*;

template <class T>
T load(Bytes at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Indexed by c10::ScalarType. Names as in PyTorch's profiler (c10::TypeMeta::name()).
inline constexpr std::string_view kTypes[] = {
    "unsigned char",
    "signed char",
    "short int",
    "int",
    "long int",
    "c10::Half",
    "float",
    "double",
    "c10::complex<c10::Half>",
    "c10::complex<float>",
    "c10::complex<double>",
    "bool",
    "c10::qint8",
    "c10::quint8",
    "c10::qint32",
    "c10::BFloat16",
    "c10::quint4x2",
    "c10::quint2x4",
    "c10::bits1x8",
    "c10::bits2x4",
    "c10::bits4x2",
    "c10::bits8",
    "c10::bits16",
    "c10::Float8_e5m2",
    "c10::Float8_e4m3fn",
    "c10::Float8_e5m2fnuz",
    "c10::Float8_e4m3fnuz",
    "short unsigned int",
    "unsigned int",
    "long unsigned int",
};

/// Address of c10::UndefinedTensorImpl, which means "no tensor".
inline const void* undefined_tensor() {
  static const void* const address = inject::resolve_data("_ZN3c1019UndefinedTensorImpl10_singletonE", Layer::kTorch);
  return address;
}

struct Tensor {
  bool defined = false, has_sizes = false, has_strides = false;
  std::int64_t dims = 0;
  Bytes sizes = nullptr, strides = nullptr;
  std::string_view type;
};

// Bits of c10::TensorImpl (Layout::policy; kPython: the next byte). A tensor that computes its sizes (symbolic, nested,
// Python subclass) does not store sizes.
inline constexpr std::uint8_t kOwnSizesAndStrides = 0x0c, kOwnSizes = 0x08, kSymbolic = 0x10, kPython = 0x18;
inline constexpr std::int64_t kMaxDims = 64, kInlineDims = 5;

/// Returns false if the fields contradict each other.
inline bool read_tensor(Bytes impl, const Layout& layout, Tensor& tensor) {
  if (impl == nullptr || impl == undefined_tensor()) return true;
  tensor.defined = true;
  const auto type = load<std::uint16_t>(impl + layout.dtype);
  if (type < std::size(kTypes)) tensor.type = kTypes[type];
  const auto policy = load<std::uint8_t>(impl + layout.policy), python = load<std::uint8_t>(impl + layout.policy + 1);
  if ((policy & (kSymbolic | kOwnSizes)) != 0 || (python & kPython) != 0) return true;
  tensor.dims = load<std::int64_t>(impl + layout.sizes);
  if (tensor.dims < 0 || tensor.dims > kMaxDims) return false;
  const Bytes in_place = impl + layout.sizes + sizeof(std::int64_t);
  tensor.sizes = tensor.dims <= kInlineDims ? in_place : load<Bytes>(in_place);
  tensor.strides = tensor.sizes + sizeof(std::int64_t) *
                                      static_cast<std::size_t>(tensor.dims <= kInlineDims ? kInlineDims : tensor.dims);
  std::int64_t elements = 1;
  for (std::int64_t i = 0; i < tensor.dims; ++i) {
    const auto size = load<std::int64_t>(tensor.sizes + i * 8);
    if (size < 0 || __builtin_mul_overflow(elements, size, &elements)) return false;
  }
  tensor.has_sizes = true;
  tensor.has_strides = (policy & kOwnSizesAndStrides) == 0;
  return elements == load<std::int64_t>(impl + layout.numel);
}

inline std::uint8_t tag_of(Bytes value) { return load<std::uint8_t>(value + kTagOffset); }

inline constexpr std::size_t kVectorBytes = 3 * sizeof(Bytes);  // the element type follows in a c10::detail::ListImpl

struct Values {
  Bytes begin = nullptr;
  std::size_t count = 0;
  Bytes at(std::size_t i) const { return begin + i * kIValueBytes; }
};

inline bool elements_of(Bytes vector, Values& values) {
  const auto begin = load<Bytes>(vector), end = load<Bytes>(vector + sizeof(Bytes));
  if (begin == nullptr) return end == nullptr;
  if (end < begin || static_cast<std::size_t>(end - begin) % kIValueBytes != 0) return false;
  values = {begin, static_cast<std::size_t>(end - begin) / kIValueBytes};
  return true;
}

inline bool inputs_of(const void* record_function, const Layout& layout, Values& values) {
  const auto at = static_cast<Bytes>(record_function) + layout.inputs;
  values = {load<Bytes>(at), load<std::size_t>(at + sizeof(Bytes))};
  constexpr std::size_t kMaxInputs = 4096;
  return values.count == 0 || (values.begin != nullptr && values.count <= kMaxInputs &&
                               reinterpret_cast<std::uintptr_t>(values.begin) % alignof(void*) == 0);
}

}  // namespace profshim::torch
