// Matches the ranks of ncclCommGrow (since NCCL 2.29). New ranks know only the growth's unique id, old ranks only their
// communicator. Both can find the magic with which a unique id begins: for a growth, a hash of the parent's magic
// and the number of the parent's splits and growths so far.
// Source: ncclCommGrow() in init.cc, bootstrapGetUniqueId() in bootstrap.cc of 2.29.2, 2.29.7 and 2.30.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace profshim::nccl {

/// First 8 bytes of a unique id; 0 = unknown.
using Magic = std::uint64_t;

inline Magic magic_of_id(const void* id) {
  Magic magic = 0;
  if (id != nullptr) std::memcpy(&magic, id, sizeof magic);
  return magic;
}

/// NCCL's hash for split or growth number `child`.
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
