// NCCL's ABI, and the words in hooks/nccl.def.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "profshim/event.h"

namespace profshim::nccl {

/// ncclComm_t; 0 = NCCL_COMM_NULL.
using Handle = std::uint64_t;
/// ncclUniqueId, passed by value.
struct UniqueId {
  unsigned char bytes[128];
};

/// ncclResult_t.
inline constexpr int kSuccess = 0, kSystemError = 2, kInProgress = 7;
/// A non-blocking communicator returns ncclInProgress, which is no failure.
constexpr bool has_failed(int result) { return result != kSuccess && result != kInProgress; }

/// NCCL_SPLIT_NOCOLOR: this rank gets no communicator.
inline constexpr int kNoColor = -1;
/// ncclNumOps: ncclRedOpCreatePreMulSum makes ops of this and larger values.
inline constexpr int kFirstUserOp = 5;

constexpr std::uint64_t size_of_type(std::int64_t type) {
  constexpr std::uint8_t kSizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && type < static_cast<std::int64_t>(std::size(kSizes)) ? kSizes[type] : 0;
}

/// The first members of ncclConfig_t.
struct Config {
  std::size_t size;
  unsigned magic, version;
  int blocking, cga_cluster_size, min_ctas, max_ctas;
  const char* net_name;
  int split_share, traffic_class;
  const char* comm_name;  // since 2.27
};
inline constexpr unsigned kConfigMagic = 0xcafebeef;

enum class Role : std::uint8_t {
  SBuf,
  RBuf,
  Count,  // size_t, elements
  Type,
  Op,
  Root,
  Peer,
  Comm,
  Stream,
  NewComm,
  Size32,  // int, ranks of the new communicator
  Rank,
  Id,
  Ids,
  IdCount,
  Color,
  Excluded,  // int*, ranks left out by a shrink
  ExcludedCount,
  Config,
  Ptr,   // other pointer
  Size,  // other size_t
  Int,   // other int, unsigned or enum
};

enum class Behavior : std::uint8_t {
  Plain,
  Collective,  // numbered on its communicator
  PointToPoint,
  GroupStart,
  GroupEnd,
  GroupCancel,  // ends a group without launching it
  Initialize,   // communicator from a unique id
  InitializeAll,
  Split,
  Shrink,
  Grow,
  Free,
};

/// Buffer of this rank whose size NcclArgs::bytes holds.
///   Sent        count x size of the type: send buffer; receive buffer of a receive or scatter
///   SentToEach  count x ranks x size: send buffer of an all-to-all or reduce-scatter
enum class Payload : std::uint8_t { Nothing, Sent, SentToEach };

template <Role role>
constexpr bool is_int = role == Role::Type || role == Role::Op || role == Role::Root || role == Role::Peer ||
                        role == Role::Size32 || role == Role::Rank || role == Role::IdCount || role == Role::Color ||
                        role == Role::ExcludedCount || role == Role::Int;

template <Role role>
using ArgumentType = std::conditional_t<is_int<role>, int,
                                        std::conditional_t<role == Role::Count || role == Role::Size, std::size_t,
                                                           std::conditional_t<role == Role::Id, UniqueId, void*>>>;

constexpr std::size_t kRoles = static_cast<std::size_t>(Role::Int) + 1;

struct Row {
  HookId hook = HookId::kNone;
  Behavior behavior = Behavior::Plain;
  Payload payload = Payload::Nothing;
  std::array<std::int8_t, kRoles> at{};  // argument number; -1 = none

  constexpr int position(Role role) const { return at[static_cast<std::size_t>(role)]; }
  constexpr bool has(Role role) const { return position(role) >= 0; }
};

template <std::size_t n>
constexpr Row make_row(HookId hook, Behavior behavior, Payload payload, const std::array<Role, n>& roles) {
  Row row;
  row.hook = hook;
  row.behavior = behavior;
  row.payload = payload;
  row.at.fill(-1);
  for (std::size_t i = 0; i < n; ++i) {
    std::int8_t& place = row.at[static_cast<std::size_t>(roles[i])];
    if (place < 0) place = static_cast<std::int8_t>(i);
  }
  return row;
}

constexpr bool launches(Behavior behavior) {
  return behavior == Behavior::Collective || behavior == Behavior::PointToPoint;
}
/// True if the hook also acts outside windows.
constexpr bool is_always_watched(Behavior behavior) {
  return behavior != Behavior::Plain && behavior != Behavior::PointToPoint;
}
constexpr bool makes_communicator(Behavior behavior) {
  return behavior == Behavior::Initialize || behavior == Behavior::InitializeAll || behavior == Behavior::Split ||
         behavior == Behavior::Shrink || behavior == Behavior::Grow;
}

}  // namespace profshim::nccl
