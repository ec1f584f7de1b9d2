#include <gtest/gtest.h>

#include "kineto/args/event_args.h"
#include "profshim/hooks/ids.h"

namespace profshim::kineto {
namespace {

TEST(PeerKey, IsDestForAnExchange) {
  EXPECT_EQ(peer_key(hooks::MPI_Sendrecv), "dest");
  EXPECT_EQ(peer_key(hooks::MPI_Sendrecv_replace), "dest");
  EXPECT_EQ(peer_key(hooks::MPI_Sendrecv_replace_c), "dest");
}

TEST(PeerKey, IsSourceForAReceive) {
  for (const HookId hook : {hooks::MPI_Recv, hooks::MPI_Irecv, hooks::MPI_Recv_init, hooks::MPI_Recv_c,
                            hooks::MPI_Precv_init, hooks::MPI_Iprobe}) {
    EXPECT_EQ(peer_key(hook), "source") << hook_name(hook);
  }
}

TEST(PeerKey, IsRootForRootedCalls) {
  for (const HookId hook : {hooks::MPI_Bcast, hooks::MPI_Ireduce, hooks::MPI_Gatherv, hooks::MPI_Comm_spawn,
                            hooks::MPI_Comm_spawn_multiple, hooks::MPI_Comm_accept, hooks::MPI_Comm_connect}) {
    EXPECT_EQ(peer_key(hook), "root") << hook_name(hook);
  }
}

TEST(PeerKey, IsTargetForOneSidedCalls) {
  for (const HookId hook : {hooks::MPI_Put, hooks::MPI_Get_accumulate, hooks::MPI_Win_lock}) {
    EXPECT_EQ(peer_key(hook), "target") << hook_name(hook);
  }
}

TEST(PeerKey, AStartHasThatOfItsRequest) {
  for (const auto& [request, key] :
       {std::pair{hooks::MPI_Send_init, "dest"}, {hooks::MPI_Recv_init, "source"}, {hooks::MPI_Bcast_init, "root"}}) {
    Event start;
    start.hook = hooks::MPI_Start;
    start.started_peer = peer_kind(request);
    EXPECT_EQ(mpi_peer_key(start), key);
  }
}

TEST(PeerKey, OtherCallsHaveTheirOwn) {
  Event put;
  put.hook = hooks::MPI_Put;
  EXPECT_EQ(mpi_peer_key(put), "target");
}

}  // namespace
}  // namespace profshim::kineto
