// The memory layout of PyTorch's objects. PyTorch has no API for these fields, so their offsets come from the headers
// of each release (1.13 to 2.15; scripts/torch_layouts.sh prints them). They are used for these releases only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace profshim::torch {

/// Byte offsets and enum values.
struct Layout {
  // at::RecordFunction. `inputs` is a c10::ArrayRef<IValue>: address, then length.
  std::uint16_t sequence, inputs;
  // c10::TensorImpl. `sizes` is a c10::impl::SizesAndStrides. The byte `policy` tells whether they are valid.
  std::uint16_t sizes, numel, dtype, policy;
  // The std::vector<IValue> in a c10::detail::ListImpl and in a c10::ivalue::Object. In a ListImpl it follows directly
  // after the reference counts of intrusive_ptr_target, as the name in an rpc::WorkerInfo does: `list` is the offset of
  // both.
  std::uint16_t list, slots;
  // c10::IValue::Tag. The tags from kTagDouble to tag_bool are numbers and bools.
  std::uint8_t tag_bool, tag_list, tag_object;
};
inline constexpr std::uint8_t kTagNone = 0, kTagTensor = 1, kTagDouble = 3, kTagComplex = 4, kTagInt = 5;
inline constexpr std::size_t kIValueBytes = 16, kTagOffset = 8;

/// Finds the release of the library that has the function at `address`, and its layout. Reports an unknown release in
/// problems[]. Reads a file next to the library. Call it once per process, before the first operator is recorded; any
/// thread.
void find_layout(const void* address);
/// The layout that find_layout() has found; null if there is none.
const Layout* known_layout();

/// Writes the release of the PyTorch library at the path `library`, such as "2.15.0+cpu". Returns false if the files
/// next to it do not tell. Public for the tests.
bool release_of(const char* library, char* text, std::size_t size);
/// The layout of a release, such as "2.15.0" or "2.7.0a0+git1234". `cxx11`: the release is built with the newer ABI of
/// std::string. Returns false if the release is unknown. Public for the tests.
bool layout_of(const char* release, bool cxx11, Layout& layout);

}  // namespace profshim::torch
