// The words in the columns of hooks/mpi.def.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "profshim/event.h"

namespace profshim::mpi {

/// Prefix R (RCount): receiving side. Suffix W: MPI_Count instead of int.
enum class Role : std::uint8_t {
  Ptr,     // an address; only the Behavior's code may read it
  Text,    // char*; in Fortran its length is a hidden last argument
  SBuf,    // may be MPI_IN_PLACE
  RBuf,    // may be MPI_IN_PLACE
  Int,     // a number; only the Behavior's code may read it
  Wide,    // MPI_Aint, MPI_Offset or MPI_Count, not read
  Opaque,  // a handle, not read
  Count,
  CountW,
  RCount,
  RCountW,
  Counts,  // an array, one per peer
  CountsW,
  RCounts,
  RCountsW,
  Partitions,  // number of partitions; Count is per partition
  Type,
  RType,
  Types,  // as Counts
  RTypes,
  Op,
  Root,  // Root to RSource are ranks; negative = MPI_ANY_SOURCE, MPI_PROC_NULL or MPI_ROOT
  Dest,
  Source,
  Target,
  RSource,  // source, if the call also sends
  Tag,
  RTag,
  Comm,
  NewComm,  // address of the new handle; all below are addresses
  OldComm,
  Message,
  Flag,  // an int; 0 = unsuccessful poll
  Request,
  Status,
  Statuses,
};
inline constexpr std::size_t kRoles = static_cast<std::size_t>(Role::Statuses) + 1;

enum class Behavior : std::uint8_t {
  PointToPoint,  // no special action; outside windows only forwarded
  Plain,         // no special action; nested MPI calls are never recorded
  Sendrecv,      // two events: send and receive
  Collective,
  PersistentInit,
  PersistentCollectiveInit,
  Start,
  Startall,
  Wait,
  Waitall,
  Waitany,
  Waitsome,
  Test,
  Testall,
  Testany,
  RequestFree,
  CreateComm,         // collective over the parent
  CreateCommOfGroup,  // collective over the new members only
  CreateIntercomm,    // as CreateCommOfGroup; each side has its own parent
  FreeComm,
  NameComm,
  FreeType,
  FreeOp,
  Initialize,
  InitializeSession,  // as Plain: a session does not tell the rank
  Finalize,
  Abort,
};

/// Meaning of MpiArgs::count and bytes, always of this rank's own buffer.
///   Sent             count x size of the sending side, of the receiving side if the send buffer is MPI_IN_PLACE, or of
///                    the only buffer
///   SentToEach       whole send buffer of an all-to-all or reduce-scatter: count x members, or sum of counts
///   SentToNeighbors  likewise for neighborhood collectives: count x destinations
///   Received         count x size of a scatter's receiving side
enum class Payload : std::uint8_t { Nothing, Sent, SentToEach, SentToNeighbors, Received };

inline constexpr std::size_t kMaxArguments = 13;

constexpr Role without_width(Role role) {
  switch (role) {
    case Role::CountW:
      return Role::Count;
    case Role::RCountW:
      return Role::RCount;
    case Role::CountsW:
      return Role::Counts;
    case Role::RCountsW:
      return Role::RCounts;
    default:
      return role;
  }
}
constexpr bool is_peer(Role role) {
  return role == Role::Root || role == Role::Dest || role == Role::Source || role == Role::Target;
}

struct Row {
  HookId hook = HookId::kNone;
  Behavior behavior = Behavior::Plain;
  Payload payload = Payload::Nothing;
  std::int8_t arguments = 0;
  std::int8_t peer = -1;     // position; -1 = none
  bool wide_counts = false;  // counts are arrays of MPI_Count
  std::array<std::int8_t, kRoles> at{};
  const char* made = "";  // how the call makes a communicator: "split"

  constexpr int position(Role role) const { return at[static_cast<std::size_t>(role)]; }
  constexpr bool has(Role role) const { return position(role) >= 0; }
  constexpr bool polls() const { return has(Role::Flag); }
  constexpr bool receives() const { return has(Role::Source) || has(Role::Message); }
};

template <std::size_t n>
constexpr Row make_row(HookId hook, Behavior behavior, Payload payload, const char* made,
                       const std::array<Role, n>& roles) {
  static_assert(n <= kMaxArguments);
  Row row;
  row.hook = hook;
  row.behavior = behavior;
  row.payload = payload;
  row.arguments = static_cast<std::int8_t>(n);
  row.made = made;
  row.at.fill(-1);
  for (std::size_t i = 0; i < n; ++i) {
    const auto here = static_cast<std::int8_t>(i);
    std::int8_t& place = row.at[static_cast<std::size_t>(without_width(roles[i]))];
    if (place < 0) place = here;
    if (is_peer(roles[i])) row.peer = here;
    if (roles[i] == Role::CountsW || roles[i] == Role::RCountsW) row.wide_counts = true;
  }
  return row;
}

constexpr bool is_number(Role role) {
  return role == Role::Int || role == Role::Count || role == Role::RCount || role == Role::Partitions ||
         is_peer(role) || role == Role::RSource || role == Role::Tag || role == Role::RTag;
}
constexpr bool is_wide_number(Role role) { return role == Role::Wide || role == Role::CountW || role == Role::RCountW; }
constexpr bool is_handle(Role role) {
  return role == Role::Opaque || role == Role::Type || role == Role::RType || role == Role::Op || role == Role::Comm;
}

/// Handles have register width, for MPICH's ints and the pointers of Open MPI and MPI-5.
template <Role role>
using ArgumentType = std::conditional_t<
    is_number(role), int,
    std::conditional_t<is_wide_number(role), std::int64_t, std::conditional_t<is_handle(role), std::uintptr_t, void*>>>;

/// True if the hook also acts outside windows.
constexpr bool always_watched(Behavior behavior) {
  return behavior != Behavior::PointToPoint && behavior != Behavior::Sendrecv;
}
/// True for calls that, outside windows, are watched only while a recorded operation is pending.
constexpr bool completes_requests(Behavior behavior) {
  switch (behavior) {
    case Behavior::Wait:
    case Behavior::Waitall:
    case Behavior::Waitany:
    case Behavior::Waitsome:
    case Behavior::Test:
    case Behavior::Testall:
    case Behavior::Testany:
      return true;
    default:
      return false;
  }
}

}  // namespace profshim::mpi
