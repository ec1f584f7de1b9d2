#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "e2e/support/built_programs.h"
#include "e2e/support/gpu_run.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

class NcclGroups : public ::testing::Test {
 protected:
  void SetUp() override { record("nccl_groups"); }

  void record(const std::string& program, const std::string& ranks = "0 1") {
    const std::string fakes = built("tests/fakes/cuda13/libnccl.so.2");
    Job job = shell("for rank in " + ranks + "; do RANK=$rank LOCAL_RANK=$rank " + built("tests/apps_gpu/" + program) +
                    " & pids=\"$pids $!\"; done; for pid in $pids; do wait $pid || exit 1; done");
    job.environment = {{"LD_LIBRARY_PATH", fakes.substr(0, fakes.rfind('/'))},
                       {"WORLD_SIZE", std::to_string((ranks.size() + 1) / 2)},
                       {"NCCL_ID_FILE", scratch_ / "id"},
                       {"PROFSHIM_SPEC", scratch_.write("s.toml", record_all_spec(scratch_ / "traces"))}};
    const Outcome outcome = run(job);
    ASSERT_EQ(outcome.ending(), "exit 0") << outcome.err;
    traces_ = read_folder(scratch_ / "traces");
    ASSERT_EQ(traces_.size(), (ranks.size() + 1) / 2) << outcome.err;
    std::sort(traces_.begin(), traces_.end(),
              [](const SeenTrace& a, const SeenTrace& b) { return a.rank() < b.rank(); });
  }

  static std::vector<const SeenEvent*> operations(const SeenTrace& trace, const std::string& collective) {
    std::vector<const SeenEvent*> found;
    for (const SeenEvent* const event : trace.calls("record_param_comms")) {
      if (event->args.at("Collective name") == collective) found.push_back(event);
    }
    return found;
  }

  const ScratchFolder scratch_;
  std::vector<SeenTrace> traces_;
};

TEST_F(NcclGroups, CommunicatorHasOneIdentityOnAllItsRanks) {
  std::vector<const SeenEvent*> reduces[2];
  for (int rank = 0; rank < 2; ++rank) reduces[rank] = operations(traces_[static_cast<std::size_t>(rank)], "allreduce");
  for (const auto& of_rank : reduces) ASSERT_EQ(of_rank.size(), 4U);  // on nccl_groups.cpp's both, own, again, both
  const auto id = [&](int rank, std::size_t i) { return reduces[rank][i]->args.at("Process Group Name"); };
  EXPECT_EQ(id(0, 0), id(1, 0));
  EXPECT_EQ(id(0, 0), id(0, 3));
  EXPECT_NE(id(0, 1), id(1, 1)) << "the colors differ";
  EXPECT_EQ(id(0, 2), id(1, 2)) << "one color, split inside a group";
  EXPECT_NE(id(0, 2), id(0, 0));
  for (int rank = 0; rank < 2; ++rank) {
    const auto seq = [&](std::size_t i) { return reduces[rank][i]->args.at("Seq"); };
    EXPECT_EQ(seq(0), "1");
    EXPECT_EQ(seq(1), "1");
    EXPECT_EQ(seq(2), "1");
    EXPECT_EQ(seq(3), "3") << "the all-gather was the second";
    EXPECT_EQ(reduces[rank][0]->args.at("Group size"), "2");
    EXPECT_EQ(reduces[rank][0]->args.at("Process Group Ranks"), "[0, 1]");
    EXPECT_EQ(reduces[rank][1]->args.at("Group size"), "1");
    EXPECT_EQ(reduces[rank][1]->args.at("Process Group Ranks"), "[" + std::to_string(rank) + "]");
    EXPECT_EQ(reduces[rank][2]->args.at("Process Group Description"), "split of init");
  }
}

TEST_F(NcclGroups, KernelsOfAGroupBelongToTheirOperations) {
  for (const SeenTrace& trace : traces_) {
    std::map<std::string, std::vector<const SeenEvent*>> kernels;  // by collective
    int messages = 0;
    for (const SeenEvent* const kernel : of_category(trace, "kernel")) {
      const auto at = kernel->args.find("Collective name");
      if (at != kernel->args.end()) kernels[at->second].push_back(kernel);
      messages += kernel->name.find("SendRecv") != std::string::npos && at == kernel->args.end() ? 1 : 0;
    }
    ASSERT_EQ(kernels["allreduce"].size(), 4U);
    ASSERT_EQ(kernels["_allgather_base"].size(), 1U);
    EXPECT_EQ(messages, 1) << "the send and the receive share a kernel";
    const SeenEvent& gather = *kernels["_allgather_base"][0];
    EXPECT_EQ(gather.args.at("In msg nelems"), "1024");
    EXPECT_EQ(gather.args.at("Out msg nelems"), "2048");
    EXPECT_EQ(gather.args.at("dtype"), "Half");
    EXPECT_EQ(gather.args.count("bus bandwidth (GB/s)"), 1U);
    EXPECT_EQ(gather.args.at("External id"), operations(trace, "_allgather_base")[0]->args.at("External id"));
  }
}

TEST_F(NcclGroups, TheTraceNamesNcclsVersion) {
  for (const SeenTrace& trace : traces_) {
    EXPECT_EQ(json_member(trace.metadata.at("distributedInfo"), "nccl_version"), "2.28.9");
  }
}

TEST_F(NcclGroups, MessagesNameBothRanks) {
  const auto sends = operations(traces_[1], "send"), receives = operations(traces_[1], "recv");
  ASSERT_EQ(sends.size(), 1U);
  ASSERT_EQ(receives.size(), 1U);
  EXPECT_EQ(sends[0]->args.at("Src Rank"), "1");
  EXPECT_EQ(sends[0]->args.at("Dst Rank"), "0");
  EXPECT_EQ(receives[0]->args.at("Src Rank"), "0");
  EXPECT_EQ(traces_[1].calls("nccl:send 1->0").size(), 1U);
  EXPECT_EQ(traces_[1].calls("nccl:recv 1<-0").size(), 1U);
}

TEST_F(NcclGroups, LaunchesPassVerify) {
  const Outcome verified = profshim({"verify", scratch_ / "traces"});

  EXPECT_EQ(verified.ending(), "exit 0") << verified.out;
  EXPECT_EQ(verified.out.find("outside its record_param_comms"), std::string::npos) << verified.out;
}

class NcclGrowth : public NcclGroups {
 protected:
  void SetUp() override { record("nccl_grow", "0 1 2 3"); }
};

TEST_F(NcclGrowth, AddedRanksHaveTheSameCommunicatorAsTheOthers) {
  std::set<std::string> three, four;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const auto reduces = operations(traces_[rank], "allreduce");
    ASSERT_EQ(reduces.size(), rank < 3 ? 2U : 1U);
    if (rank < 3) three.insert(reduces[0]->args.at("Process Group Name"));
    four.insert(reduces.back()->args.at("Process Group Name"));
    EXPECT_EQ(reduces.back()->args.at("Group size"), "4");
    EXPECT_EQ(traces_[rank].property("problems").find("ncclCommGrow"), std::string::npos)
        << traces_[rank].property("problems");
  }
  EXPECT_EQ(three.size(), 1U);
  EXPECT_EQ(four.size(), 1U);
  EXPECT_NE(three, four);
}

class NcclNonBlocking : public NcclGroups {
 protected:
  void SetUp() override { record("nccl_nonblocking"); }
};

TEST_F(NcclNonBlocking, KernelsLaunchedByNcclsThreadBelongToTheirOperations) {
  for (const SeenTrace& trace : traces_) {
    const auto reduces = operations(trace, "allreduce"), gathers = operations(trace, "_allgather_base");
    ASSERT_EQ(reduces.size(), 3U);
    ASSERT_EQ(gathers.size(), 1U);
    std::vector<std::string> expected, found;
    for (const SeenEvent* const operation : {reduces[0], reduces[1], gathers[0], reduces[2]})
      expected.push_back(operation->args.at("External id") + " " + operation->args.at("Collective name"));
    for (const SeenEvent* const kernel : of_category(trace, "kernel")) {
      ASSERT_EQ(kernel->args.count("Collective name"), 1U) << kernel->name;
      found.push_back(kernel->args.at("External id") + " " + kernel->args.at("Collective name"));
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(reduces[0]->args.at("Group size"), "2");
  }
}

}  // namespace
}  // namespace profshim::e2e
