// ncclCommGrow (since 2.29): the ranks that are added know the id of the growth only, those that were there before know
// their communicator only. What the two have in common is how NCCL makes the one of the other: an id begins with a
// number, which the communicators of its ranks keep; the id of a growth begins with a number made of that of the
// communicator and of how many splits and growths it has seen. Every rank that was there computes it for itself, and
// those beside the new ranks check it (ncclCommGrow in init.cc, bootstrapGetUniqueId in bootstrap.cc; alike in 2.29.2,
// 2.29.7 and 2.30). Should a later NCCL do it otherwise, the rank that hands out the id notices.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace profshim::nccl {

/// 0 = not known.
using Magic = std::uint64_t;

inline Magic magic_of_id(const void* id) {
  Magic magic = 0;
  if (id != nullptr) std::memcpy(&magic, id, sizeof magic);
  return magic;
}

/// Of the growth that is the `child`-th split or growth of a communicator: NCCL's hash of the two numbers.
constexpr Magic magic_of_growth(Magic parent, std::uint64_t child) {
  std::uint64_t sum = 1, rest = 1;
  for (const std::uint64_t number : {parent, child}) {
    sum = (sum ^ sizeof number) + rest;
    rest ^= sum;
    sum = (sum ^ sum >> 31) * 0x9de62bbc8cef3ce3ull + number;
    rest = (rest ^ rest >> 32) * 0x485cd6311b599e79ull;
  }
  const std::uint64_t both = (sum ^ sum >> 31) * 0xbac3bd562846de6bull + rest;
  return (both ^ both >> 32) * 0x995a187a14e7b445ull;
}

}  // namespace profshim::nccl
