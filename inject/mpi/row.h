// Meaning of the columns of hooks/mpi.def. MPI has no common binary interface, so a row is all we know of a function:
// the C and the Fortran hook, and the recorded event, are made from it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "profshim/event.h"

namespace profshim::mpi {

/// Role of one argument. R... is the receiving side, ...W is MPI_Count instead of int.
enum class Role : std::uint8_t {
  Ptr,         // an address we do not read, or whose meaning the behavior knows
  Text,        // char*; Fortran passes its length as a hidden argument at the end
  SBuf,        // send buffer, may be MPI_IN_PLACE
  RBuf,        // receive buffer, may be MPI_IN_PLACE
  Int,         // a number we do not read, or whose meaning the behavior knows
  Wide,        // MPI_Aint, MPI_Offset or MPI_Count we do not read
  Opaque,      // a handle we do not read
  Count,       // elements
  CountW,      //
  RCount,      //
  RCountW,     //
  Counts,      // elements for each peer
  CountsW,     //
  RCounts,     //
  RCountsW,    //
  Partitions,  // number of partitions; the count is that of one partition
  Type,
  RType,
  Types,   // a datatype for each peer
  RTypes,  //
  Op,
  Root,     // a rank, as the four below; negative = wildcard, MPI_PROC_NULL or MPI_ROOT
  Dest,     //
  Source,   //
  Target,   // of a one-sided call
  RSource,  // source of a call that also sends
  Tag,
  RTag,
  Comm,
  NewComm,   // address where MPI stores the new communicator
  OldComm,   // address of the communicator that is freed
  Message,   // address of an MPI_Message: the call receives, or finds, that message
  Flag,      // address of an int: the call polls, and 0 there means that it was unsuccessful
  Request,   // address where MPI stores the new request
  Status,    // address where MPI stores a single status
  Statuses,  // address where MPI stores a status for each request
};
inline constexpr std::size_t kRoles = static_cast<std::size_t>(Role::Statuses) + 1;

/// Work of a hook beyond forwarding the call and recording it while armed.
enum class Behavior : std::uint8_t {
  PointToPoint,  // none, and nothing at all while not armed: these are called most often
  Plain,         // keeps the calls that MPI makes inside it from being recorded as the job's
  Sendrecv,      // two events: a send and a receive
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
  CreateCommOfGroup,  // collective over the members of the new communicator only
  CreateIntercomm,    // likewise, and each side has its own parent
  FreeComm,
  NameComm,
  FreeType,
  FreeOp,
  Initialize,
  InitializeSession,  // as Plain: an MPI session has no communicator yet that would tell the rank
  Finalize,
  Abort,
};

/// Meaning of MpiArgs::count and bytes, always of this rank's own buffer.
///   Sent             count x size of the sending side; of the receiving side where the send buffer is MPI_IN_PLACE.
///                    Point to point, one-sided and file calls: of their only buffer.
///   SentToEach       the whole send buffer of an all-to-all or reduce-scatter: count x members, or the sum of counts
///   SentToNeighbors  the same for neighborhood collectives: count x destinations
///   Received         the receiving side, for a scatter
enum class Payload : std::uint8_t { Nothing, Sent, SentToEach, SentToNeighbors, Received };

inline constexpr std::size_t kMaxArguments = 13;

/// A count has the same place in a row whatever its width.
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
  std::int8_t peer = -1;     // position of the Root, Dest, Source or Target; -1 = has none
  bool wide_counts = false;  // arrays of counts hold MPI_Count
  std::array<std::int8_t, kRoles> at{};
  const char* made = "";  // how a new communicator is made: "split"

  /// Position of the first argument of `role`, a count of either width; -1 = has none.
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

/// The C type of an argument. Handles travel at register width, which holds the int of MPICH and the pointers of Open
/// MPI and of the MPI-5 ABI.
template <Role role>
using ArgumentType = std::conditional_t<
    is_number(role), int,
    std::conditional_t<is_wide_number(role), std::int64_t, std::conditional_t<is_handle(role), std::uintptr_t, void*>>>;

/// Returns true if the hook has work to do even while nothing is recorded.
constexpr bool always_watched(Behavior behavior) {
  return behavior != Behavior::PointToPoint && behavior != Behavior::Sendrecv;
}
/// Returns true for calls that, outside windows, are watched only while an operation from a window is pending.
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
