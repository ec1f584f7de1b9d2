#include <gtest/gtest.h>

#include "kineto/args/event_args.h"

namespace profshim::kineto {
namespace {

TEST(PeerKey, IsDestForAnExchange) {
  EXPECT_EQ(peer_key(HookId::MPI_Sendrecv), "dest");
  EXPECT_EQ(peer_key(HookId::MPI_Sendrecv_replace), "dest");
  EXPECT_EQ(peer_key(HookId::MPI_Sendrecv_replace_c), "dest");
}

TEST(PeerKey, IsSourceForAReceive) {
  for (const HookId hook : {HookId::MPI_Recv, HookId::MPI_Irecv, HookId::MPI_Recv_init, HookId::MPI_Recv_c,
                            HookId::MPI_Precv_init, HookId::MPI_Iprobe}) {
    EXPECT_EQ(peer_key(hook), "source") << hook_name(hook);
  }
}

TEST(PeerKey, IsRootForRootedCalls) {
  for (const HookId hook : {HookId::MPI_Bcast, HookId::MPI_Ireduce, HookId::MPI_Gatherv, HookId::MPI_Comm_spawn,
                            HookId::MPI_Comm_spawn_multiple, HookId::MPI_Comm_accept, HookId::MPI_Comm_connect}) {
    EXPECT_EQ(peer_key(hook), "root") << hook_name(hook);
  }
}

TEST(PeerKey, IsTargetForOneSidedCalls) {
  for (const HookId hook : {HookId::MPI_Put, HookId::MPI_Get_accumulate, HookId::MPI_Win_lock}) {
    EXPECT_EQ(peer_key(hook), "target") << hook_name(hook);
  }
}

TEST(PeerKey, AStartHasThatOfItsRequest) {
  for (const auto& [request, key] : {std::pair{HookId::MPI_Send_init, "dest"},
                                     {HookId::MPI_Recv_init, "source"},
                                     {HookId::MPI_Bcast_init, "root"}}) {
    Event start;
    start.hook = HookId::MPI_Start;
    start.started_peer = peer_kind(request);
    EXPECT_EQ(mpi_peer_key(start), key);
  }
}

TEST(PeerKey, OtherCallsHaveTheirOwn) {
  Event put;
  put.hook = HookId::MPI_Put;
  EXPECT_EQ(mpi_peer_key(put), "target");
}

}  // namespace
}  // namespace profshim::kineto
