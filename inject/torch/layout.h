// Where PyTorch keeps what we read of its objects. No interface of its tells, so that the places come from the headers
// of each release (1.13 to 2.15; scripts/torch_layouts.sh prints them), and are used for these releases alone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace profshim::torch {

/// Byte offsets, and values of enumerations.
struct Layout {
  // at::RecordFunction. An array of c10::IValue: address, then length.
  std::uint16_t sequence, inputs;
  // c10::TensorImpl. `sizes` is a c10::impl::SizesAndStrides; `policy` the byte that says whether those hold.
  std::uint16_t sizes, numel, dtype, policy;
  // c10::detail::ListImpl: a std::vector of IValue; c10::ivalue::Object: likewise. The former is the first thing behind
  // the counts that every intrusive_ptr_target has, as the name of an rpc::WorkerInfo is.
  std::uint16_t list, slots;
  // c10::IValue::Tag. Numbers and truth values lie between kTagTensor and kTagBool.
  std::uint8_t tag_bool, tag_list, tag_object;
};
inline constexpr std::uint8_t kTagNone = 0, kTagTensor = 1, kTagDouble = 3, kTagComplex = 4, kTagInt = 5;
inline constexpr std::size_t kIValueBytes = 16, kTagOffset = 8;

/// Looks up the release to which the function at `address` belongs; that we do not know it is said in problems[]. Reads
/// a file beside the library: once per process, before the first operator is recorded. Any thread.
void find_layout(const void* address);
/// What that has found; null = not known.
const Layout* known_layout();

/// "2.15.0+cpu" by the files beside the library that has `address`; false when they do not say. Exposed for the tests.
bool release_of(const char* library, char* text, std::size_t size);
/// The layout of a release, "2.15.0" or "2.7.0a0+git1234"; `cxx11`: it is built with the newer form of std::string.
/// False = not known.
bool layout_of(const char* release, bool cxx11, Layout& layout);

}  // namespace profshim::torch
