#include "analysis/summary/comms/comms_view.h"

#include <gtest/gtest.h>

#include "unit/analysis/hand_made.h"

namespace profshim::analysis_detail::test {
namespace {

View comms_of(const std::vector<Timeline>& timelines) {
  CommsView comms;
  for (const Timeline& timeline : timelines) comms.add(timeline, timeline.rank);
  return comms.finish();
}
View comms_of(Timeline timeline) {
  std::vector<Timeline> one;
  one.push_back(std::move(timeline));
  return comms_of(one);
}

std::string mpi_args(int sequence, int bytes = 1000, const std::string& more = "") {
  return "\"bytes\": " + std::to_string(bytes) +
         ", \"comm\": \"MPI_COMM_WORLD\", \"comm id\": \"fe\", \"Group size\": 4, " +
         "\"Process Group Ranks\": \"[0, 1, 2, 3]\", \"Seq\": " + std::to_string(sequence) + more;
}

std::string torch_args(const std::string& collective, int in, int out, const std::string& more = "") {
  return "\"Collective name\": \"" + collective + "\", \"In msg nelems\": " + std::to_string(in) +
         ", \"Out msg nelems\": " + std::to_string(out) +
         ", \"Group size\": 4, \"dtype\": \"Float\", \"Process Group Name\": \"0\", "
         "\"Process Group Description\": \"default_pg\", \"Process Group Ranks\": \"[0, 1, 2, 3]\"" +
         more;
}

// Each collective moves 4 MB in 1000 us: 4 GB/s.
TEST(CommsView, ComputesBandwidthsAsNcclTestsDo) {
  const struct {
    const char *collective, *bus;
    int in, out;
  } cases[] = {{"allreduce", "6", 1000000, 1000000},
               {"_allgather_base", "3", 250000, 1000000},
               {"_reduce_scatter_base", "3", 1000000, 250000},
               {"all_to_all", "3", 1000000, 1000000},
               {"broadcast", "4", 1000000, 1000000},
               {"reduce", "4", 1000000, 1000000},
               {"send", "4", 1000000, 1000000}};
  for (const auto& one : cases) {
    const View view = comms_of(hand_made(0, {{"kernel", "ncclDevKernel_X(ncclDevKernelArgs)", 0, 1000, 7,
                                              torch_args(one.collective, one.in, one.out)}}));

    const auto found = row(view, "comms", {{"function", one.collective}});
    ASSERT_FALSE(found.empty()) << one.collective;
    EXPECT_EQ(found.at("mean_bytes"), "4e+06") << one.collective;
    EXPECT_EQ(found.at("algorithm_gb_per_s"), "4") << one.collective;
    EXPECT_EQ(found.at("bus_gb_per_s"), one.bus) << one.collective;
    EXPECT_EQ(found.at("group"), "default_pg");
  }
}

TEST(CommsView, TakesOnePartTimesTheRanksForTheSizeOfAnMpiGather) {
  const View view = comms_of(hand_made(0, {{"cpu_op", "MPI_Allgather", 0, 1, 1, mpi_args(1)},
                                           {"cpu_op", "MPI_Alltoall", 10, 1, 1, mpi_args(2)},
                                           {"cpu_op", "MPI_Allgatherv", 20, 1, 1, mpi_args(3)},
                                           {"cpu_op", "MPI_Barrier", 30, 1, 1, mpi_args(4, 0)}}));

  EXPECT_EQ(row(view, "comms", {{"function", "MPI_Allgather"}})["algorithm_gb_per_s"], "4");
  EXPECT_EQ(row(view, "comms", {{"function", "MPI_Allgather"}})["bus_gb_per_s"], "3");
  EXPECT_EQ(row(view, "comms", {{"function", "MPI_Alltoall"}})["algorithm_gb_per_s"], "1");
  EXPECT_EQ(row(view, "comms", {{"function", "MPI_Allgatherv"}})["algorithm_gb_per_s"], "-");
  EXPECT_EQ(row(view, "comms", {{"function", "MPI_Allgatherv"}})["mean_bytes"], "1000");
  EXPECT_EQ(row(view, "comms", {{"function", "MPI_Barrier"}})["bus_gb_per_s"], "-");
}

TEST(CommsView, CountsEachCollectiveOnce) {
  const View view = comms_of(hand_made(
      0, {{"cpu_op", "record_param_comms", 0, 50, 1, torch_args("allreduce", 10, 10, ", \"External id\": 1")},
          {"user_annotation", "nccl:all_reduce", 1, 40, 1, "\"comm\": \"x\", \"bytes\": 40"},
          {"kernel", "ncclDevKernel_AllReduce_RING(x)", 100, 1000, 7, "\"External id\": 1"},
          {"cpu_op", "record_param_comms", 2000, 50, 1, torch_args("broadcast", 10, 10, ", \"External id\": 2")},
          {"user_annotation", "nccl:broadcast", 2001, 40},
          {"cpu_op", "record_param_comms", 3000, 80, 1, torch_args("reduce", 10, 10, ", \"External id\": 3")},
          {"cpu_op", "record_param_comms", 4000, 80, 1, torch_args("wait", 10, 10)},
          {"kernel", "ncclKernel_AllGather_RING_LL(x)", 5000, 7, 7},
          {"kernel", "gemm", 6000, 7, 7, "\"External id\": 3"}}));

  EXPECT_EQ(table(view, "comms").rows.size(), 4u);
  EXPECT_EQ(row(view, "comms", {{"function", "allreduce"}})["where"], "device");
  EXPECT_EQ(row(view, "comms", {{"function", "allreduce"}})["total_us"], "1000");
  EXPECT_EQ(row(view, "comms", {{"function", "allreduce"}})["mean_bytes"], "40");
  EXPECT_EQ(row(view, "comms", {{"function", "broadcast"}})["where"], "host, starts it");
  EXPECT_EQ(row(view, "comms", {{"function", "broadcast"}})["algorithm_gb_per_s"], "-");
  EXPECT_EQ(row(view, "comms", {{"function", "reduce"}})["where"], "host, starts it");
  EXPECT_EQ(row(view, "comms", {{"function", "AllGather"}})["group"], "unknown");
}

// gloo's operators return at once. gloo's threads work later, in the same order.
TEST(CommsView, TakesTheTimeInWhichTheBackendWorks) {
  const std::vector<HandEvent> events = {
      {"cpu_op", "c10d::allreduce_", 0, 50},
      {"cpu_op", "record_param_comms", 0, 50, 1, torch_args("allreduce", 1000000, 1000000)},
      {"user_annotation", "gloo:all_reduce", 20, 1000, 2},
      {"cpu_op", "record_param_comms", 60, 50, 1, torch_args("allreduce", 1000000, 1000000)},
      {"user_annotation", "gloo:all_reduce", 100, 3000, 3},
      {"cpu_op", "record_param_comms", 5000, 50, 1, torch_args("barrier", 0, 0)}};

  const View view = comms_of(hand_made(0, events));

  EXPECT_EQ(row(view, "comms", {{"function", "allreduce"}})["where"], "host");
  EXPECT_EQ(row(view, "comms", {{"function", "allreduce"}})["total_us"], "4000");
  EXPECT_EQ(row(view, "comms", {{"function", "allreduce"}})["algorithm_gb_per_s"], "2");
  EXPECT_EQ(row(view, "comms", {{"function", "barrier"}})["where"], "host, starts it");
}

TEST(CommsView, CountsANonBlockingCollectiveFromItsCallToItsEnd) {
  const View view = comms_of(hand_made(0, {{"cpu_op", "MPI_Iallreduce", 0, 5, 1, mpi_args(1)},
                                           {"cpu_op", "MPI_Iallreduce", 0, 0, 1, mpi_args(1), "b", 9},
                                           {"cpu_op", "MPI_Iallreduce", 500, 0, 1, "", "e", 9}}));

  EXPECT_EQ(row(view, "comms", {})["count"], "1");
  EXPECT_EQ(row(view, "comms", {})["total_us"], "500");
}

TEST(CommsView, TrimsATenthAtBothEnds) {
  std::vector<HandEvent> events;
  for (int i = 0; i < 10; ++i) {
    events.push_back({"cpu_op", "MPI_Bcast", 1000.0 * i, i == 9 ? 910.0 : 10.0 * (i + 1), 1, mpi_args(i + 1)});
  }

  const View view = comms_of(hand_made(0, events));

  EXPECT_EQ(row(view, "comms", {})["mean_us"], "136");
  EXPECT_EQ(row(view, "comms", {})["trimmed_mean_us"], "55");
}

std::vector<Timeline> four_ranks(const std::string& function, const std::vector<std::vector<double>>& durations) {
  std::vector<Timeline> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    std::vector<HandEvent> events;
    for (std::size_t i = 0; i < durations[rank].size(); ++i) {
      const double dur = durations[rank][i];
      events.push_back({"cpu_op", function, 1000.0 * (i + 1) - dur, dur, 1, mpi_args(static_cast<int>(i) + 5)});
    }
    ranks.push_back(hand_made(rank, events));
  }
  return ranks;
}

TEST(CommsView, SaysWhoWaitedAndWhoCameLast) {
  const View view = comms_of(four_ranks("MPI_Allreduce", {{100, 200}, {110, 210}, {10, 250}, {130, 20}}));

  EXPECT_EQ(row(view, "waits", {{"rank", "0"}}), (std::map<std::string, std::string>{{"group", "MPI_COMM_WORLD"},
                                                                                     {"function", "MPI_Allreduce"},
                                                                                     {"rank", "0"},
                                                                                     {"matched", "2"},
                                                                                     {"waited_us", "270"},
                                                                                     {"mean_us", "135"},
                                                                                     {"max_us", "180"},
                                                                                     {"came_last", "0"}}));
  EXPECT_EQ(row(view, "waits", {{"rank", "2"}})["came_last"], "1");
  EXPECT_EQ(row(view, "waits", {{"rank", "3"}})["came_last"], "1");
  EXPECT_EQ(row(view, "waits", {{"rank", "2"}})["waited_us"], "230");
  EXPECT_TRUE(view.notes.empty());
}

// A broadcast's root may leave at once. Its short call does not prove that the root came last.
TEST(CommsView, NamesNobodyLastInABroadcast) {
  const View view = comms_of(four_ranks("MPI_Bcast", {{10}, {110}, {100}, {130}}));

  EXPECT_EQ(row(view, "waits", {{"rank", "0"}})["came_last"], "-");
}

TEST(CommsView, MatchesByOrderWhereThereAreNoNumbers) {
  std::vector<Timeline> even, uneven;
  for (int rank = 0; rank < 2; ++rank) {
    std::vector<HandEvent> events = {
        {"kernel", "ncclDevKernel_A(x)", 0, 100, 7, torch_args("allreduce", 1, 1)},
        {"kernel", "ncclDevKernel_A(x)", 900, 50.0 + 10 * rank, 7, torch_args("allreduce", 1, 1)}};
    even.push_back(hand_made(rank, events));
    if (rank == 1) events.pop_back();
    uneven.push_back(hand_made(rank, events));
  }

  const View matched = comms_of(even), left = comms_of(uneven);

  EXPECT_EQ(row(matched, "waits", {{"rank", "1"}})["waited_us"], "10");
  EXPECT_EQ(row(matched, "waits", {{"rank", "0"}})["came_last"], "1");
  EXPECT_TRUE(table(left, "waits").rows.empty());
  EXPECT_EQ(left.notes,
            std::vector<std::string>{"allreduce on default_pg has no sequence numbers, and the numbers of calls "
                                     "differ (rank 1: 1, rank 0: 2): cannot tell which ranks waited"});
}

constexpr char kCut[] = R"("profshim": {"complete": false, "dropped_events": 0}, )";

std::vector<Timeline> with_one_that_is_missing(const std::string& function, bool rank_1_has_left,
                                               const std::string& members_of_rank_2 = kCut) {
  std::vector<Timeline> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    std::vector<HandEvent> events = {{"cpu_op", function, 0, 10, 1, mpi_args(1406)}};
    const bool left = rank == 1 && rank_1_has_left;
    const std::string more = left ? "" : ", \"finished\": false";
    if (rank != 2) events.push_back({"cpu_op", function, 100, 5000, 1, mpi_args(1407, 8, more)});
    ranks.push_back(hand_made(rank, events, rank == 2 ? members_of_rank_2 : kCut));
  }
  return ranks;
}

TEST(CommsView, NamesTheRankThatNeverEntered) {
  const View view = comms_of(with_one_that_is_missing("MPI_Allreduce", false));

  EXPECT_EQ(view.notes, std::vector<std::string>{"rank 2 never entered MPI_Allreduce #1407 on MPI_COMM_WORLD"});
  EXPECT_EQ(row(view, "never_entered", {})["sequence"], "1407");
  EXPECT_EQ(row(view, "comms", {})["unfinished"], "3");
  EXPECT_EQ(row(view, "comms", {})["total_us"], "40");
}

TEST(CommsView, AccusesNobodyOfWhatItsTraceMayHaveLost) {
  const std::string lossy = R"("profshim": {"complete": false, "dropped_events": 3}, )",
                    closed_before = R"("profshim": {"complete": true, "dropped_events": 0}, )";

  EXPECT_TRUE(comms_of(with_one_that_is_missing("MPI_Allreduce", false, lossy)).notes.empty());
  EXPECT_TRUE(comms_of(with_one_that_is_missing("MPI_Allreduce", false, closed_before)).notes.empty());
  EXPECT_TRUE(comms_of(with_one_that_is_missing("MPI_Allreduce", true)).notes.empty());
  EXPECT_EQ(comms_of(with_one_that_is_missing("MPI_Bcast", true)).notes.size(), 1u);
}

TEST(CommsView, CountsWhatATraceHasNotGotInItsMidst) {
  std::vector<Timeline> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    std::vector<HandEvent> events;
    for (int i = 1; i <= 5; ++i) {
      if (rank == 0 || i == 2 || i == 4) events.push_back({"cpu_op", "MPI_Barrier", 100.0 * i, 9, 1, mpi_args(i, 0)});
    }
    ranks.push_back(hand_made(rank, events));
  }

  EXPECT_EQ(comms_of(ranks).notes,
            std::vector<std::string>{"traces of rank 1 lack 1 call of MPI_Barrier on MPI_COMM_WORLD (first: #3)"});
}

}  // namespace
}  // namespace profshim::analysis_detail::test
