#include <array>
#include <iterator>
#include <numeric>

#include "event_args.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {

namespace {

namespace arg = schema::arg;

std::string_view peer_key(PeerKind kind) {
  switch (kind) {
    case PeerKind::kRoot:
      return arg::kRoot;
    case PeerKind::kDestination:
      return arg::kDest;
    case PeerKind::kSource:
      return arg::kSource;
    case PeerKind::kPeer:
      return arg::kPeer;
    case PeerKind::kTarget:
    case PeerKind::kNone:
      break;
  }
  return arg::kTarget;
}

}  // namespace

std::string_view peer_key(HookId hook) { return peer_key(peer_kind(hook)); }

std::string_view mpi_peer_key(const Event& event) {
  const PeerKind kind = peer_kind(event.hook);
  return peer_key(kind != PeerKind::kNone ? kind : event.started_peer);
}

void EventArgs::add_communicator(const Communicator& c) {
  add(arg::kComm, c.name);
  add(arg::kCommId, std::string_view{c.identity});
  add(arg::kGroupSize, c.size);
  if (!c.ranks.empty()) add(arg::kGroupRanks, std::string_view{c.ranks});
}

void EventArgs::add_mpi(const Event& event, const Event* second) {
  const MpiArgs& mpi = event.mpi;
  if (mpi.datatype != 0 || mpi.bytes != 0) {
    add(arg::kBytes, mpi.bytes);
    add(arg::kCount, mpi.count);
  }
  if (const std::string_view type = definitions_.datatype(mpi.datatype); !type.empty()) add(arg::kDatatype, type);
  if (const std::string_view op = definitions_.reduction(mpi.op); !op.empty()) add(arg::kOp, op);
  if (mpi.peer != kNone32) add(mpi_peer_key(event), std::int64_t{mpi.peer});
  if (mpi.tag != kNone32) add(arg::kTag, std::int64_t{mpi.tag});
  if (second != nullptr) add_receive(second->mpi);
  if (const Communicator* c = definitions_.communicator(mpi.comm)) add_communicator(*c);
  if (mpi.sequence != 0) add(arg::kSequence, std::uint64_t{mpi.sequence});
  if (mpi.request != 0) add(arg::kRequest, std::uint64_t{mpi.request});
  if ((event.flags & kFortran) != 0) add(arg::kBinding, std::string_view{"Fortran"});
  if ((event.flags & kFailed) != 0) add(arg::kFailed, true);
}

void EventArgs::add_receive(const MpiArgs& receive) {
  add(arg::kReceivedBytes, receive.bytes);
  add(arg::kReceivedCount, receive.count);
  if (const std::string_view type = definitions_.datatype(receive.datatype); !type.empty()) {
    add(arg::kReceivedDatatype, type);
  }
  if (receive.peer != kNone32) add(arg::kSource, std::int64_t{receive.peer});
  if (receive.tag != kNone32) add(arg::kReceivedTag, std::int64_t{receive.tag});
}

std::uint64_t polls_of(const PollArgs& polls) {
  return std::accumulate(std::begin(polls.calls), std::end(polls.calls), std::uint64_t{0});
}

void EventArgs::add_polls(const Event& event) {
  const PollArgs& polls = event.polls;
  if (polls_of(polls) > 1) {
    for (int i = 0; i < PollArgs::kFunctions; ++i) {
      if (polls.calls[i] > 0) add(hook_name(polls.functions[i]), std::uint64_t{polls.calls[i]});
    }
    add(arg::kInCallsUs, static_cast<double>(polls.in_calls) / ticks_per_ns_ / 1000);
  }
  if (polls.peer != kNone32) add(arg::kSource, std::int64_t{polls.peer});
  if (polls.tag != kNone32) add(arg::kTag, std::int64_t{polls.tag});
  if (const Communicator* c = definitions_.communicator(polls.comm)) add_communicator(*c);
  if ((event.flags & kFortran) != 0) add(arg::kBinding, std::string_view{"Fortran"});
}

}  // namespace profshim::kineto
