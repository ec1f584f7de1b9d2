// Memory layout of PyTorch's objects, which no API gives. Offsets come from the headers of 1.13 to 2.15
// (scripts/torch_layouts.sh) and are for these releases only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace profshim::torch {

struct Layout {
  // Offsets in at::RecordFunction. `inputs` is a c10::ArrayRef<IValue>: address, length.
  std::uint16_t sequence, inputs;
  // Offsets in c10::TensorImpl. `sizes` is a c10::impl::SizesAndStrides, valid if the byte `policy` says so.
  std::uint16_t sizes, numel, dtype, policy;
  // The std::vector<IValue> in a c10::detail::ListImpl (`list`) and a c10::ivalue::Object (`slots`). `list`
  // is also the offset of the name in an rpc::WorkerInfo.
  std::uint16_t list, slots;
  // Values of c10::IValue::Tag. kTagDouble to tag_bool are numbers and bools.
  std::uint8_t tag_bool, tag_list, tag_object;
};
inline constexpr std::uint8_t kTagNone = 0, kTagTensor = 1, kTagDouble = 3, kTagComplex = 4, kTagInt = 5;
inline constexpr std::size_t kIValueBytes = 16, kTagOffset = 8;

/// Call once, before the first operator is recorded. `address`: a function of PyTorch's library. Reports an unknown
/// release as a problem. Any thread.
void find_layout(const void* address);
/// Null until find_layout() succeeds.
const Layout* known_layout();

/// Finds PyTorch's release, such as "2.15.0+cpu", in the files beside `library`.
bool release_of(const char* library, char* text, std::size_t size);
/// `cxx11`: the newer ABI of std::string. Returns false if the release is unknown.
bool layout_of(const char* release, bool cxx11, Layout& layout);

}  // namespace profshim::torch
