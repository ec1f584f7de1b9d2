#include "call.h"

#include <cerrno>

#include "inject/core/step_hook.h"
#include "profshim/call_stack.h"
#include "profshim/session.h"
#include "requests.h"
#include "types.h"

namespace profshim::mpi {
namespace {

constexpr std::uint32_t kRecording = recorder::kArmed | recorder::kMpi;

bool is_collective(const Row& row) {
  return row.behavior == Behavior::Collective || row.behavior == Behavior::PersistentCollectiveInit;
}

struct Amount {
  std::uint64_t count = 0, bytes = 0;
  std::uint16_t datatype = 0;
};

Amount amount_of_one(std::int64_t count, Handle type) {
  const Datatype datatype = datatype_of(type);
  const auto n = static_cast<std::uint64_t>(count > 0 ? count : 0);
  return {n, n * static_cast<std::uint64_t>(datatype.size), datatype.id};
}

std::int64_t element(const Call& call, int argument, int i) {
  return call.row.wide_counts ? static_cast<const std::int64_t*>(call.address(argument))[i]
                              : static_cast<const int*>(call.address(argument))[i];
}

Handle type_element(const Call& call, int argument, int i) {
  return call.fortran ? type_from_fortran(static_cast<const int*>(call.address(argument))[i])
                      : handle_at(call.address(argument), i);
}

Amount amount_of_vector(const Call& call, int counts, int type, int types, int n) {
  Amount sum;
  if (call.words[counts] == 0) return sum;
  if (types >= 0) {
    for (int i = 0; i < n; ++i) {
      const std::int64_t count = element(call, counts, i);
      if (count <= 0) continue;  // an empty part's datatype may be invalid
      const Amount one = amount_of_one(count, type_element(call, types, i));
      sum = {sum.count + one.count, sum.bytes + one.bytes, one.datatype};
    }
    return sum;
  }
  std::int64_t total = 0;
  for (int i = 0; i < n; ++i) total += element(call, counts, i);
  return amount_of_one(total, call.type_argument(type));
}

/// `peers`: length of a counts array. `own`: index of its only element to use; < 0 = all.
Amount amount_of_side(const Call& call, bool sending, int peers, int own) {
  const Row& row = call.row;
  const int count = row.position(sending ? Role::Count : Role::RCount);
  const int counts = row.position(sending ? Role::Counts : Role::RCounts);
  const int type = row.position(sending ? Role::Type : Role::RType);
  const int types = row.position(sending ? Role::Types : Role::RTypes);
  if (counts >= 0) {
    if (own < 0) return amount_of_vector(call, counts, type, types, peers);
    return type >= 0 ? amount_of_one(element(call, counts, own), call.type_argument(type)) : Amount{};
  }
  if (type < 0) return {};
  const std::int64_t times = row.has(Role::Partitions) ? call.number(Role::Partitions) : 1;
  return amount_of_one((count >= 0 ? call.count(count) : 1) * times, call.type_argument(type));
}

Amount amount_of(const Call& call, Communicator* comm) {
  const Row& row = call.row;
  // In an intercommunicator, roots MPI_ROOT and MPI_PROC_NULL make some buffer arguments undefined.
  if (is_collective(row) && row.peer >= 0 && call.number(row.peer) < 0) return {};
  const int rank = comm != nullptr && comm->rank >= 0 ? comm->rank : 0;
  Amount amount;
  switch (row.payload) {
    case Payload::Nothing:
      return {};
    case Payload::Sent:
      if (call.in_place(Role::SBuf) && (row.has(Role::RCount) || row.has(Role::RCounts))) {
        return amount_of_side(call, false, 0, rank);
      }
      return amount_of_side(call, true, 0, rank);
    case Payload::Received:
      if (call.in_place(Role::RBuf)) return amount_of_side(call, true, 0, rank);
      return amount_of_side(call, false, 0, rank);
    case Payload::SentToEach:
    case Payload::SentToNeighbors: {
      const bool neighbors = row.payload == Payload::SentToNeighbors;
      // A reduce-scatter has one count per member of its own group, in intercommunicators too.
      const int members = comm == nullptr ? 0 : row.has(Role::Op) ? comm->size : comm->peers;
      const int peers = neighbors && comm != nullptr ? neighbors_of(*comm) : members;
      const bool other_side = call.in_place(Role::SBuf) && (row.has(Role::RCount) || row.has(Role::RCounts));
      amount = amount_of_side(call, !other_side, peers, -1);
      if (!row.has(Role::Counts)) {
        amount.count *= static_cast<std::uint64_t>(peers);
        amount.bytes *= static_cast<std::uint64_t>(peers);
      }
      return amount;
    }
  }
  return amount;
}

std::int32_t rank_or_none(int value) { return value >= 0 ? value : kNone32; }

}  // namespace

void describe(const Call& call, Event& event) {
  const Row& row = call.row;
  event.hook = row.hook;
  if (call.fortran) event.flags |= kFortran;
  MpiArgs& args = event.mpi;
  Communicator* comm = row.behavior == Behavior::FreeComm ? nullptr : call.comm;
  if (comm == nullptr && row.has(Role::Comm)) comm = communicator_of(call.comm_argument());
  const Amount amount = amount_of(call, comm);
  args.bytes = amount.bytes;
  args.count = amount.count;
  args.datatype = amount.datatype;
  args.comm = comm != nullptr ? defined_id(*comm) : call.freed_id;
  args.sequence = call.sequence;
  args.peer = row.peer >= 0 ? rank_or_none(call.number(row.peer)) : kNone32;
  args.tag = row.has(Role::Tag) ? rank_or_none(call.number(Role::Tag)) : kNone32;
  args.op = row.has(Role::Op) ? reduction_of(call.op_argument()) : 0;
  args.request = 0;
}

namespace {

Event receive_half(const Call& call) {
  const Row& row = call.row;
  Event half = *call.event;
  half.hook = HookId::kContinuation;
  half.flags = static_cast<std::uint8_t>(half.flags & ~kContinues);
  if (row.has(Role::RType)) {
    const Amount amount =
        amount_of_one(call.count(row.position(Role::RCount)), call.type_argument(row.position(Role::RType)));
    half.mpi.bytes = amount.bytes;
    half.mpi.count = amount.count;
    half.mpi.datatype = amount.datatype;
  }
  half.mpi.peer = rank_or_none(call.number(Role::RSource));
  half.mpi.tag = rank_or_none(call.number(Role::RTag));
  return half;
}

}  // namespace

bool needs_status(const Call& call) {
  const Row& row = call.row;
  if (!row.has(Role::Status) || completes_requests(row.behavior)) return false;
  const int peer = row.has(Role::RSource) ? row.position(Role::RSource) : row.peer;
  const int tag = row.position(row.has(Role::RTag) ? Role::RTag : Role::Tag);
  return peer < 0 || call.number(peer) < 0 || call.number(tag) < 0;
}

namespace {

void note_new_communicator(Call& call) {
  const Row& row = call.row;
  const Handle created = call.comm_stored_at(Role::NewComm);
  Communicator* const parent = row.has(Role::Comm) ? communicator_of(call.comm_argument()) : nullptr;
  if (row.behavior == Behavior::CreateCommOfGroup || row.behavior == Behavior::CreateIntercomm) {
    const bool inter = row.behavior == Behavior::CreateIntercomm;
    const auto tag = static_cast<std::uint64_t>(row.has(Role::Tag) ? call.number(Role::Tag) : -1);
    add_communicator_of_members(inter ? nullptr : parent, created, row.made, tag);
  } else if (row.has(Role::Request)) {
    if (parent != nullptr) add_duplicate(*parent, created, row.made);
  } else {
    add_communicator(parent, created, row.made);
  }
}

void note_persistent_request(Call& call) {
  Event model;
  describe(call, model);
  add_persistent_request(model, is_collective(call.row) ? communicator_of(call.comm_argument()) : nullptr,
                         call.request_in(call.row.position(Role::Request)),
                         call.request_address(call.row.position(Role::Request)));
}

void note_starts(Call& call) {
  const bool one = call.row.behavior == Behavior::Start;
  const int array = one ? 0 : 1, n = one ? 1 : call.number(0);
  for (int i = 0; i < n; ++i) {
    start_persistent_request(call.event, n == 1, call.request_in(array, i), call.request_address(array, i));
  }
}

void before_real(Call& call, bool recording) {
  const Row& row = call.row;
  switch (row.behavior) {
    case Behavior::Collective:
      call.comm = communicator_of(call.comm_argument());
      if (call.comm != nullptr) call.sequence = next_sequence(*call.comm);
      break;
    case Behavior::FreeComm:
      // MPI may reuse the handle once the real function has run.
      call.freed = call.comm_stored_at(Role::OldComm);
      if (recording) {  // MPI cannot tell the name of a freed communicator
        Communicator* const known = communicator_of(call.freed);
        if (known != nullptr) call.freed_id = defined_id(*known);
      }
      call.comm = forget_communicator(call.freed);
      break;
    case Behavior::FreeType:
      forget_datatype(call.fortran ? type_from_fortran(call.number(0)) : handle_at(call.address(0)));
      break;
    case Behavior::FreeOp:
      forget_reduction(call.fortran ? op_from_fortran(call.number(0)) : handle_at(call.address(0)));
      break;
    case Behavior::RequestFree:
      forget_request(call.request_in(0), call.request_address(0));
      break;
    default:
      break;
  }
}

void after_real(Call& call) {
  switch (call.row.behavior) {
    case Behavior::CreateComm:
    case Behavior::CreateCommOfGroup:
    case Behavior::CreateIntercomm:
      note_new_communicator(call);
      break;
    case Behavior::NameComm:
      rename_communicator(call.comm_argument());
      break;
    case Behavior::PersistentInit:
    case Behavior::PersistentCollectiveInit:
      note_persistent_request(call);
      return;
    case Behavior::Start:
    case Behavior::Startall:
      note_starts(call);
      return;
    default:
      break;
  }
  if (call.row.has(Role::Request) && call.event != nullptr) {
    const int at = call.row.position(Role::Request);
    call.event->mpi.request = add_posted_request(*call.event, call.request_in(at), call.request_address(at));
  }
}

}  // namespace

void take_source_and_tag(const int* status, MpiArgs& args) {
  const int source = status[abi().status_source], tag = status[abi().status_source + 1];
  if (args.peer == kNone32) args.peer = rank_or_none(source);
  if (args.tag == kNone32) args.tag = rank_or_none(tag);
}

void begin_call(Call& call) {
  std::uint32_t mode = recorder::mode();
  call.step_at_end = inject::steps_at_end(call.row.hook, mode);
  const bool recording = (mode & kRecording) == kRecording;
  before_real(call, recording);
  if (!recording) return;
  Event* const event = recorder::open_call(call.thread);
  if (event == nullptr) return;
  *event = Event{};
  describe(call, *event);
  if ((mode & recorder::kStacks) != 0) event->stack = call_stack::capture();
  if (needs_status(call)) call.want_status();
  recorder::begin(*event);
  call.event = event;
}

void end_call(Call& call, int result) {
  const Ticks now = call.event != nullptr ? ticks() : 0;
  const int saved_errno = errno;
  if (__builtin_expect(result == 0, 1)) {
    after_real(call);
  } else if (call.row.behavior == Behavior::FreeComm) {
    restore_communicator(call.comm, call.freed);
  }
  if (call.event != nullptr) {
    Event& event = *call.event;
    if (result != 0) event.flags |= kFailed;
    // A probe fills the status only if it finds a message.
    const bool has_status = result == 0 && needs_status(call) && !call.was_unsuccessful_poll();
    const int* const status = has_status ? static_cast<const int*>(call.address(Role::Status)) : nullptr;
    if (call.row.behavior == Behavior::Sendrecv) {
      event.flags |= kContinues;
      Event half = receive_half(call);
      half.end = now;
      if (status != nullptr) take_source_and_tag(status, half.mpi);
      recorder::end_at(call.thread, event, now);
      recorder::commit(call.thread, half);
    } else {
      if (status != nullptr) take_source_and_tag(status, event.mpi);
      recorder::end_at(call.thread, event, now);
    }
  }
  // The end of the recorded call: take_over() must not count it a second time.
  if (call.step_at_end) session::step_boundary(now != 0 ? now : ticks(), std::nullopt, 0);
  errno = saved_errno;
}

}  // namespace profshim::mpi
