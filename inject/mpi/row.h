// What a row of hooks/mpi.def says: which argument is what. MPI has no common binary interface, so this is all we know
// of a function; the C and the Fortran hook, and what is recorded of the call, are made from it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "profshim/event.h"

namespace profshim::mpi {

/// One argument. Several of a kind have several words: R... is the receiving side, ...W is MPI_Count instead of int.
enum class Role : std::uint8_t {
  Ptr,     // an address we do not look at, or whose meaning the behaviour knows
  Text,    // char*: in Fortran the length comes as a hidden argument at the end
  SBuf,    // send buffer, may be MPI_IN_PLACE
  RBuf,    // receive buffer, may be MPI_IN_PLACE
  Int,     // a number we do not look at, or whose meaning the behaviour knows
  Wide,    // MPI_Aint, MPI_Offset or MPI_Count we do not look at
  Opaque,  // a handle we do not look at
  Count,
  CountW,
  RCount,
  RCountW,  // elements
  Counts,
  CountsW,
  RCounts,
  RCountsW,    // elements for each peer
  Partitions,  // the count is that of each of so many
  Type,
  RType,
  Types,
  RTypes,  // a datatype for each peer
  Op,
  Peer,
  RPeer,  // root, destination, source, target; negative = wildcard or nobody
  Tag,
  RTag,
  Comm,
  NewComm,   // where the new communicator is stored
  OldComm,   // address of the communicator that goes away
  Request,   // where the new request is stored
  Status,    // where a single status is stored
  Statuses,  // where one for each request is stored
};

/// What a hook does beyond forwarding the call and recording it when armed.
enum class Behaviour : std::uint8_t {
  Message,   // nothing, and nothing at all when not armed: these are called most often
  Plain,     // keeps the calls that MPI makes inside it from being counted as the job's
  Exchange,  // a send and a receive: two events
  Collective,
  Prepare,
  PrepareCollective,  // a persistent request is made
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
  FreeComm,
  NameComm,
  FreeType,
  FreeOp,
  Initialise,
  Finalise,
  Abort,
};

/// What count and bytes of an event are; always of this rank's own buffer.
///   Sent              count x size of the sending side; of the receiving side where the send buffer is MPI_IN_PLACE.
///                     Point to point, one-sided and files: of the one buffer there is.
///   SentToEach        the whole send buffer of an all-to-all or reduce-scatter: count x members, or the sum of counts
///   SentToNeighbours  likewise for the neighbourhood collectives: count x destinations
///   Received          scatter: what this rank gets
enum class Payload : std::uint8_t { Nothing, Sent, SentToEach, SentToNeighbours, Received };

inline constexpr std::size_t kMaxArguments = 13;

struct Row {
  HookId hook = HookId::kNone;
  Behaviour behaviour = Behaviour::Plain;
  Payload payload = Payload::Nothing;
  std::int8_t arguments = 0;
  // position of each kind of argument; -1 = has none
  std::int8_t send_buffer = -1, receive_buffer = -1;
  std::int8_t count = -1, receive_count = -1, counts = -1, receive_counts = -1, partitions = -1;
  std::int8_t type = -1, receive_type = -1, types = -1, receive_types = -1;
  std::int8_t op = -1, peer = -1, receive_peer = -1, tag = -1, receive_tag = -1;
  std::int8_t comm = -1, new_comm = -1, old_comm = -1, request = -1, status = -1, statuses = -1;
  bool wide_counts = false;  // arrays of counts hold MPI_Count
};

template <std::size_t n>
constexpr Row make_row(HookId hook, Behaviour behaviour, Payload payload, const std::array<Role, n>& roles) {
  static_assert(n <= kMaxArguments);
  Row row;
  row.hook = hook;
  row.behaviour = behaviour;
  row.payload = payload;
  row.arguments = static_cast<std::int8_t>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto here = static_cast<std::int8_t>(i);
    switch (roles[i]) {
      case Role::SBuf:
        row.send_buffer = here;
        break;
      case Role::RBuf:
        row.receive_buffer = here;
        break;
      case Role::Count:
      case Role::CountW:
        row.count = here;
        break;
      case Role::RCount:
      case Role::RCountW:
        row.receive_count = here;
        break;
      case Role::CountsW:
        row.wide_counts = true;
        [[fallthrough]];
      case Role::Counts:
        row.counts = here;
        break;
      case Role::RCountsW:
        row.wide_counts = true;
        [[fallthrough]];
      case Role::RCounts:
        row.receive_counts = here;
        break;
      case Role::Partitions:
        row.partitions = here;
        break;
      case Role::Type:
        row.type = here;
        break;
      case Role::RType:
        row.receive_type = here;
        break;
      case Role::Types:
        row.types = here;
        break;
      case Role::RTypes:
        row.receive_types = here;
        break;
      case Role::Op:
        row.op = here;
        break;
      case Role::Peer:
        row.peer = here;
        break;
      case Role::RPeer:
        row.receive_peer = here;
        break;
      case Role::Tag:
        row.tag = here;
        break;
      case Role::RTag:
        row.receive_tag = here;
        break;
      case Role::Comm:
        row.comm = here;
        break;
      case Role::NewComm:
        row.new_comm = here;
        break;
      case Role::OldComm:
        row.old_comm = here;
        break;
      case Role::Request:
        row.request = here;
        break;
      case Role::Status:
        row.status = here;
        break;
      case Role::Statuses:
        row.statuses = here;
        break;
      case Role::Ptr:
      case Role::Text:
      case Role::Int:
      case Role::Wide:
      case Role::Opaque:
        break;
    }
  }
  return row;
}

constexpr bool is_number(Role role) {
  return role == Role::Int || role == Role::Count || role == Role::RCount || role == Role::Partitions ||
         role == Role::Peer || role == Role::RPeer || role == Role::Tag || role == Role::RTag;
}
constexpr bool is_wide_number(Role role) { return role == Role::Wide || role == Role::CountW || role == Role::RCountW; }
constexpr bool is_handle(Role role) {
  return role == Role::Opaque || role == Role::Type || role == Role::RType || role == Role::Op || role == Role::Comm;
}

/// The C type of an argument. Handles travel at register width: that covers the int of MPICH and the pointers of
/// Open MPI and of the MPI-5 ABI alike.
template <Role role>
using ArgumentType = std::conditional_t<
    is_number(role), int,
    std::conditional_t<is_wide_number(role), std::int64_t, std::conditional_t<is_handle(role), std::uintptr_t, void*>>>;

/// Of a call that may come to nothing, the argument where the call says so (a flag, or how many have completed); -1 =
/// another call.
constexpr int poll_result(HookId hook) {
  switch (hook) {
    case HookId::MPI_Test:
    case HookId::MPI_Request_get_status:
    case HookId::MPI_Win_test:
      return 1;
    case HookId::MPI_Testall:
    case HookId::MPI_Testsome:
    case HookId::MPI_Parrived:
      return 2;
    case HookId::MPI_Testany:
    case HookId::MPI_Iprobe:
    case HookId::MPI_Improbe:
      return 3;
    default:
      return -1;
  }
}

/// Does the call do something for us even while nothing is recorded?
constexpr bool always_watched(Behaviour behaviour) {
  return behaviour != Behaviour::Message && behaviour != Behaviour::Exchange;
}
/// Watched outside of windows only while an operation that was begun in one pends.
constexpr bool completes_requests(Behaviour behaviour) {
  switch (behaviour) {
    case Behaviour::Wait:
    case Behaviour::Waitall:
    case Behaviour::Waitany:
    case Behaviour::Waitsome:
    case Behaviour::Test:
    case Behaviour::Testall:
    case Behaviour::Testany:
      return true;
    default:
      return false;
  }
}

}  // namespace profshim::mpi
