// EventArgs: MPI calls and polls.
#include <array>
#include <iterator>
#include <numeric>

#include "event_args.h"

namespace profshim::kineto {

namespace {

std::string_view peer_key(PeerKind kind) {
  switch (kind) {
    case PeerKind::kRoot:
      return "root";
    case PeerKind::kDestination:
      return "dest";
    case PeerKind::kSource:
      return "source";
    case PeerKind::kPeer:
      return "peer";
    case PeerKind::kTarget:
    case PeerKind::kNone:
      break;
  }
  return "target";
}

}  // namespace

std::string_view peer_key(HookId hook) { return peer_key(peer_kind(hook)); }

std::string_view mpi_peer_key(const Event& event) {
  const PeerKind kind = peer_kind(event.hook);
  return peer_key(kind != PeerKind::kNone ? kind : event.started_peer);
}

void EventArgs::add_communicator(const Communicator& c) {
  add("comm", c.name);
  add("comm id", std::string_view{c.identity});
  add("Group size", c.size);
  if (!c.ranks.empty()) add("Process Group Ranks", std::string_view{c.ranks});
}

void EventArgs::add_mpi(const Event& event, const Event* second) {
  const MpiArgs& mpi = event.mpi;
  if (mpi.datatype != 0 || mpi.bytes != 0) {
    add("bytes", mpi.bytes);
    add("count", mpi.count);
  }
  if (const std::string_view type = definitions_.datatype(mpi.datatype); !type.empty()) add("datatype", type);
  if (const std::string_view op = definitions_.reduction(mpi.op); !op.empty()) add("op", op);
  if (mpi.peer != kNone32) add(mpi_peer_key(event), std::int64_t{mpi.peer});
  if (mpi.tag != kNone32) add("tag", std::int64_t{mpi.tag});
  if (second != nullptr) add_receive(second->mpi);
  if (const Communicator* c = definitions_.communicator(mpi.comm)) add_communicator(*c);
  if (mpi.sequence != 0) add("Seq", std::uint64_t{mpi.sequence});
  if (mpi.request != 0) add("request", std::uint64_t{mpi.request});
  if ((event.flags & kFortran) != 0) add("binding", std::string_view{"Fortran"});
  if ((event.flags & kFailed) != 0) add("failed", true);
}

// Adds the receiving half of an exchange (MPI_Sendrecv).
void EventArgs::add_receive(const MpiArgs& receive) {
  add("recv bytes", receive.bytes);
  add("recv count", receive.count);
  if (const std::string_view type = definitions_.datatype(receive.datatype); !type.empty()) {
    add("recv datatype", type);
  }
  if (receive.peer != kNone32) add("source", std::int64_t{receive.peer});
  if (receive.tag != kNone32) add("recv tag", std::int64_t{receive.tag});
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
    add("in calls (us)", static_cast<double>(polls.in_calls) / ticks_per_ns_ / 1000);
  }
  if (polls.peer != kNone32) add("source", std::int64_t{polls.peer});
  if (polls.tag != kNone32) add("tag", std::int64_t{polls.tag});
  if (const Communicator* c = definitions_.communicator(polls.comm)) add_communicator(*c);
  if ((event.flags & kFortran) != 0) add("binding", std::string_view{"Fortran"});
}

}  // namespace profshim::kineto
