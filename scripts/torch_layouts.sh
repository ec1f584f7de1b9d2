#!/usr/bin/env bash
# Prints the offsets in objects of a PyTorch release, to add the release to the table of inject/torch/layout.cpp.
#   scripts/torch_layouts.sh INCLUDE...     each the folder torch/include of an unpacked package
# Prints a line for each of the two forms of std::string in packages (cxx11 = 0 or 1; PyPI's were 0 up to 2.5).
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/layouts.cpp" <<'SOURCE'
#include <ATen/core/List_inl.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <c10/core/TensorImpl.h>

#include <cstddef>
#include <cstdio>

// Returns 256 * offset + value of the byte that `set` changes; -1 if none.
template <class Set>
int byte_of(Set set) {
  alignas(64) static char object[1024];
  for (char& byte : object) byte = 0;
  set(reinterpret_cast<c10::TensorImpl*>(object));
  for (int i = 0; i < static_cast<int>(sizeof object); ++i) {
    if (object[i] != 0) return i * 256 + static_cast<unsigned char>(object[i]);
  }
  return -1;
}

int main() {
  using Tag = c10::IValue::Tag;
  const int own = byte_of([](c10::TensorImpl* t) { t->sizes_strides_policy_ = 3; });
  const int symbolic = byte_of([](c10::TensorImpl* t) { t->has_symbolic_sizes_strides_ = true; });
  const int pythons = byte_of([](c10::TensorImpl* t) { t->python_custom_sizes_strides_ = 3; });
  std::printf("cxx11 %d {%zu, %zu, %zu, %zu, %zu, %d, %zu, %zu, %d, %d, %d}", _GLIBCXX_USE_CXX11_ABI,
              offsetof(at::RecordFunction, sequence_nr_), offsetof(at::RecordFunction, inputs_),
              offsetof(c10::TensorImpl, sizes_and_strides_), offsetof(c10::TensorImpl, numel_),
              offsetof(c10::TensorImpl, data_type_), own / 256, offsetof(c10::detail::ListImpl, list),
              offsetof(c10::ivalue::Object, slots_), static_cast<int>(Tag::Bool), static_cast<int>(Tag::GenericList),
              static_cast<int>(Tag::Object));
  std::printf("  bits: own %02x, symbolic %02x, of Python %02x one byte later: %s; IValue %zu bytes, tag at %zu\n",
              own % 256, symbolic % 256, pythons % 256, pythons / 256 == own / 256 + 1 ? "yes" : "NO",
              sizeof(c10::IValue), offsetof(c10::IValue, tag));
}
SOURCE
for include in "$@"; do
  for cxx11 in 0 1; do
    # The program calls no function of PyTorch, so symbols that the linker misses are never used.
    for standard in 17 20; do
      "${CXX:-g++}" -std=c++$standard -O2 -w -fno-access-control -D_GLIBCXX_USE_CXX11_ABI=$cxx11 -I"$include" \
        "$work/layouts.cpp" -o "$work/layouts" -Wl,--unresolved-symbols=ignore-all -Wl,-z,lazy 2>"$work/errors" && break
    done
    printf '%s: ' "$include"
    "$work/layouts" || cat "$work/errors"
  done
done
