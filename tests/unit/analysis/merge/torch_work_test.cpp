#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdio>
#include <map>

#include "unit/analysis/merge/torch_rank.h"

namespace profshim::analysis_detail::test {
namespace {

TEST_F(MergeTorchTest, AnAsynchronousSliceIsWorkToo) {
  const auto rank = [] {
    return Rank()
        .step(5, 0, 1000)
        .call("c10d::allreduce_", 10, "")
        .event({"user_annotation", "gloo:all_reduce", 12, 0, 1, "", "b", 3})
        .event({"user_annotation", "gloo:all_reduce", 100, 0, 90, "", "e", 3});
  };
  expect_matches(rank(), rank(), 1);
  EXPECT_EQ(result_.collectives, 0u);  // asynchronous slices get no arrow
}

// Calls on two gloo threads may begin in either order.
TEST_F(MergeTorchTest, CallsThatRanTogetherHaveTheEndOfTheLast) {
  const RankTrace trace = scan_rank_trace(write(Rank()
                                                    .step(5, 0, 1000)
                                                    .call("c10d::allreduce_", 10, "")
                                                    .call("c10d::allreduce_", 30, "")
                                                    .work("allreduce_", 40, 50)
                                                    .work("allreduce_", 45, 200)
                                                    .call("c10d::allreduce_", 300, "")
                                                    .work("allreduce_", 310, 400)
                                                    .json(0, 0)));

  ASSERT_EQ(trace.sync_points.size(), 3u);
  int alone = 0;
  for (const SyncPoint& m : trace.sync_points) {
    if (m.event != kNoEvent) {
      ++alone;
      EXPECT_EQ(m.begin_ns, 310'000);
      EXPECT_EQ(m.end_ns, 400'000);
    } else {
      EXPECT_EQ(m.begin_ns, 40'000);
      EXPECT_EQ(m.end_ns, 200'000);
    }
  }
  EXPECT_EQ(alone, 1);
}

TEST_F(MergeTorchTest, ACallWithUnfinishedWorkDoesNotCount) {
  const auto rank = [] {
    return Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100).call("c10d::allreduce_", 200, "\"Input Dims\": [[[4]]]");
  };
  expect_matches(rank(), rank(), 1);
  const HandEvent cut{"user_annotation", "gloo:all_reduce", 210, 790, 90, "\"finished\": false"};
  expect_matches(rank().event(cut), rank().event(cut), 1);
}

TEST_F(MergeTorchTest, WorkOfCallsBeforeTheWindowSpoilsTheMatch) {
  const auto rank = [] {
    return Rank()
        .work("allreduce_", 5, 8)
        .step(5, 0, 1000)
        .gloo("allreduce_", 10, 100)
        .call("c10d::allreduce_", 200, "");
  };
  expect_no_match(rank(), rank());
}

TEST_F(MergeTorchTest, WorkOfAnotherBackendSpoilsTheMatch) {
  const auto rank = [] { return Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100); };
  const HandEvent nccl{"user_annotation", "nccl:all_reduce", 12, 2};
  expect_matches(rank(), rank(), 1);
  expect_no_match(rank().event(nccl), rank().event(nccl));
}

TEST_F(MergeTorchTest, AnArrowGoesFromTheLastMemberToTheOthers) {
  expect_matches(Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100),
                 Rank().step(5, 0, 1000).gloo("allreduce_", 80, 100), 1);

  EXPECT_EQ(result_.collectives, 1u);
  std::map<std::string, std::int64_t> at_us, process;
  std::int64_t last_pid = 0, last_tid = 0;
  TraceVisitor visitor;
  visitor.event = [&](const ReadEvent& e) {
    if (e.name == "gloo:all_reduce") {
      last_pid = e.pid;
      last_tid = e.tid;
    }
    if (e.category == "rank_flow") {
      at_us[std::string(e.phase)] = (e.ts_ns + 500) / 1000 - 1'000'000;
      process[std::string(e.phase)] = e.pid;
      EXPECT_EQ(e.pid, last_pid);
      EXPECT_EQ(e.tid, last_tid);
    }
    return true;
  };
  ASSERT_TRUE(read_trace(folder_.path() + "/out.pt.trace.json", visitor).ok);
  EXPECT_NE(process["s"], process["f"]);
  EXPECT_NEAR(static_cast<double>(at_us["s"]), 86, result_.ranks[1].error_us);
  EXPECT_EQ(at_us["f"], 100);
}

TEST_F(MergeTorchTest, KernelsWithoutNumbersBelongToTheCallWithTheirId) {
  const auto rank = [](double late) {
    return Rank().step(5, 0, 1000).step(6, 1000, 2000).nccl(11, 10, 900, 1100 + late).nccl(12, 700, 1200, 1300);
  };
  expect_matches(rank(0), rank(20), 2);
  EXPECT_EQ(result_.collectives, 2u);
  // rank(0) called both collectives in step 5. The other rank called the second one in step 6.
  expect_no_match(rank(0),
                  Rank().step(5, 0, 1000).step(6, 1000, 2000).nccl(11, 10, 900, 1100).nccl(12, 1010, 1200, 1300));
  expect_no_match(rank(0), Rank().step(5, 0, 1000).nccl(11, 10, 900, 1100, 8).nccl(12, 700, 1200, 1300));
}

TEST_F(MergeTorchTest, KernelsOfNoCallOrSeveralOfOneCallDoNotMatch) {
  const auto with = [](const HandEvent& e) { return Rank().step(5, 0, 1000).nccl(11, 10, 100, 200).event(e); };
  const HandEvent of_none{"kernel", "ncclDevKernel_AllGather_RING_LL",
                          300,      20,
                          7,        arg("External id", 99) + ", " + arg("Collective name", "_allgather_base")};
  expect_matches(with(of_none), with(of_none), 1);
  HandEvent of_it = of_none;
  of_it.args = arg("External id", 11) + ", " + arg("Collective name", "_allgather_base");
  expect_no_match(with(of_it), with(of_it));
  HandEvent unlinked = of_none;
  unlinked.args = arg("External id", 11);
  expect_matches(with(unlinked), with(unlinked), 1);
}

TEST_F(MergeTorchTest, KernelsWithNumbersMatchByNumber) {
  const auto rank = [](const std::string& function) {
    Rank made;
    for (const int number : {7, 8}) {
      const std::string args = arg("Collective name", function) + ", " + arg("Seq", number) + ", " +
                               arg("Process Group Name", "0") + ", " + arg("Process Group Ranks", "[0, 1]");
      made.event({"kernel", "ncclDevKernel_AllGather_RING_LL", number * 100.0, 50, 7, args});
    }
    return made;
  };
  expect_matches(rank("all_gather"), rank("all_gather"), 2);
  expect_matches(rank("_allgather_base"), rank("_allgather_base"), 2);
  expect_no_match(rank("all_to_allv"), rank("all_to_allv"));
  expect_no_match(rank("broadcast"), rank("broadcast"));
}

std::string unpacked(const std::string& path) {
  std::string text;
  const gzFile file = gzopen(path.c_str(), "rb");
  char piece[65536];
  for (int n = 0; (n = gzread(file, piece, sizeof piece)) > 0;) text.append(piece, static_cast<std::size_t>(n));
  gzclose(file);
  return text;
}

std::string earlier(const std::string& trace, double us) {
  constexpr std::string_view kKey = "\"ts\": ";
  std::string text;
  std::size_t from = 0;
  for (std::size_t at = trace.find(kKey); at != std::string::npos; at = trace.find(kKey, from)) {
    char number[64];
    std::snprintf(number, sizeof number, "%.3f", std::stod(trace.substr(at + kKey.size(), 32)) - us);
    text.append(trace, from, at + kKey.size() - from) += number;
    from = trace.find_first_not_of("0123456789.", at + kKey.size());
  }
  return text.append(trace, from);
}

// The kernels of this trace have no sequence numbers.
TEST_F(MergeTorchTest, KernelsOfARealTraceMatch) {
  const std::string ours = unpacked(PROFSHIM_SOURCE_DIR "/tests/golden/traces/hta-ddp-nccl-3steps.json.gz");
  std::string theirs = earlier(ours, kBehind_us);
  const std::string rank = "\"rank\": 0";
  ASSERT_NE(theirs.find(rank), std::string::npos);
  theirs.replace(theirs.find(rank), rank.size(), "\"rank\": 1");
  MergeOptions options;
  options.out = folder_.path() + "/out.pt.trace.json";
  options.paths = {write(ours), write(theirs)};

  const MergeResult result = merge_traces(options);

  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.collectives, 15u);  // five gradient all-reduces per step; broadcasts do not wait for all ranks
  EXPECT_EQ(result.ranks[1].clock, "collectives");
  EXPECT_NEAR(result.ranks[1].offset_us, kBehind_us, 1);
  EXPECT_LT(result.ranks[1].error_us, 3000);  // the shortest kernel takes 2 ms
}

}  // namespace
}  // namespace profshim::analysis_detail::test
