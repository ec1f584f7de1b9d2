// NCCL as we see it, without its header: handles are opaque, enums are ints, and a row of hooks/nccl.def says what each
// argument of a function is. tests/unit/inject/nccl_abi_test.cpp holds it against the vendor's nccl.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "profshim/event.h"

namespace profshim::nccl {

/// ncclComm_t. 0 = NCCL_COMM_NULL.
using Handle = std::uint64_t;
/// ncclUniqueId: 128 bytes, passed by value (in memory).
struct UniqueId {
  unsigned char bytes[128];
};

/// ncclResult_t.
inline constexpr int kSuccess = 0, kSystemError = 2, kInProgress = 7;
/// What a call of a non-blocking communicator returns is no failure.
constexpr bool has_failed(int result) { return result != kSuccess && result != kInProgress; }

/// NCCL_SPLIT_NOCOLOR: this rank gets no communicator.
inline constexpr int kNoColour = -1;
/// ncclRedOp_t above ncclAvg: made by ncclRedOpCreatePreMulSum.
inline constexpr int kFirstUserOp = 5;

/// Bytes of an element of a ncclDataType_t; 0 = not known to us.
constexpr std::uint64_t size_of_type(std::int64_t type) {
  constexpr std::uint8_t kSizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && type < static_cast<std::int64_t>(std::size(kSizes)) ? kSizes[type] : 0;
}

/// The head of ncclConfig_t, which only ever grows at its end.
struct Config {
  std::size_t size;
  unsigned magic, version;
  int blocking, cga_cluster_size, min_ctas, max_ctas;
  const char* net_name;
  int split_share, traffic_class;
  const char* comm_name;  // since 2.27
};
inline constexpr unsigned kConfigMagic = 0xcafebeef;

/// What an argument is.
enum class Role : std::uint8_t {
  SBuf,           // const void*
  RBuf,           // void*
  Count,          // size_t, elements
  Type,           // ncclDataType_t
  Op,             // ncclRedOp_t
  Root,           // int
  Peer,           // int
  Comm,           // ncclComm_t
  Stream,         // cudaStream_t
  NewComm,        // ncclComm_t*
  Size32,         // int: ranks of the new communicator
  Rank,           // int: own rank in it
  Id,             // ncclUniqueId by value
  Ids,            // ncclUniqueId*
  IdCount,        // int
  Colour,         // int
  Excluded,       // int*: ranks that do not take part
  ExcludedCount,  // int
  Config,         // ncclConfig_t*
  Ptr,            // any other pointer
  Size,           // any other size_t
  Int,            // any other int, unsigned or enum
};

/// What a hook does beyond recording.
enum class Behaviour : std::uint8_t {
  Plain,
  Collective,  // is counted on its communicator, and launches device work
  Message,     // launches device work
  GroupStart,
  GroupEnd,
  GroupCancel,  // ends a group and launches nothing
  Initialise,   // makes a communicator of a unique id
  InitialiseAll,
  Split,
  Shrink,
  Grow,
  Free,
};

/// What NcclArgs::bytes counts, of this rank's own buffers.
///   Sent        count x size of what one rank sends; of the one buffer there is for a receive or scatter
///   SentToEach  the whole send buffer of an all-to-all or reduce-scatter: count x ranks x size
enum class Payload : std::uint8_t { Nothing, Sent, SentToEach };

template <Role role>
constexpr bool is_int = role == Role::Type || role == Role::Op || role == Role::Root || role == Role::Peer ||
                        role == Role::Size32 || role == Role::Rank || role == Role::IdCount || role == Role::Colour ||
                        role == Role::ExcludedCount || role == Role::Int;

/// The C type of an argument.
template <Role role>
using ArgumentType = std::conditional_t<is_int<role>, int,
                                        std::conditional_t<role == Role::Count || role == Role::Size, std::size_t,
                                                           std::conditional_t<role == Role::Id, UniqueId, void*>>>;

constexpr std::size_t kRoles = static_cast<std::size_t>(Role::Int) + 1;

struct Row {
  HookId hook = HookId::kNone;
  Behaviour behaviour = Behaviour::Plain;
  Payload payload = Payload::Nothing;
  std::array<std::int8_t, kRoles> at{};  // position of the first argument of each role; -1 = has none

  constexpr int position(Role role) const { return at[static_cast<std::size_t>(role)]; }
  constexpr bool has(Role role) const { return position(role) >= 0; }
};

template <std::size_t n>
constexpr Row make_row(HookId hook, Behaviour behaviour, Payload payload, const std::array<Role, n>& roles) {
  Row row;
  row.hook = hook;
  row.behaviour = behaviour;
  row.payload = payload;
  row.at.fill(-1);
  for (std::size_t i = 0; i < n; ++i) {
    std::int8_t& place = row.at[static_cast<std::size_t>(roles[i])];
    if (place < 0) place = static_cast<std::int8_t>(i);
  }
  return row;
}

/// Does it start work on the device, itself or at the end of its group?
constexpr bool launches(Behaviour behaviour) {
  return behaviour == Behaviour::Collective || behaviour == Behaviour::Message;
}
/// Does it tell us something that must be known whether or not it is recorded?
constexpr bool always_watched(Behaviour behaviour) {
  return behaviour != Behaviour::Plain && behaviour != Behaviour::Message;
}
constexpr bool makes_communicator(Behaviour behaviour) {
  return behaviour == Behaviour::Initialise || behaviour == Behaviour::InitialiseAll || behaviour == Behaviour::Split ||
         behaviour == Behaviour::Shrink || behaviour == Behaviour::Grow;
}

}  // namespace profshim::nccl
