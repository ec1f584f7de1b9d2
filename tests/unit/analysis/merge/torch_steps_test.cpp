// Which collectives of torch.distributed are taken to be the same on two ranks, and which are not.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "analysis/merge/rank_trace.h"
#include "profshim/analysis/merge.h"
#include "profshim/base/rank.h"
#include "unit/analysis/hand_made.h"
#include "unit/temporary_folder.h"

namespace profshim {
namespace {

using analysis_detail::kNoEvent;
using analysis_detail::RankTrace;
using analysis_detail::scan_rank_trace;
using analysis_detail::SyncPoint;
using analysis_detail::test::HandEvent;
using analysis_detail::test::json_of;

const std::string kOneGroup = R"([{"pg_name": "0", "pg_size": 2, "ranks": [0, 1]}])";

std::string arg(const std::string& key, const std::string& text) { return "\"" + key + "\": \"" + text + "\""; }
std::string arg(const std::string& key, std::int64_t number) { return "\"" + key + "\": " + std::to_string(number); }

/// What a rank's trace has, in microseconds by the common clock.
class Rank {
 public:
  Rank& step(std::int64_t number, double begin, double end) {
    events_.push_back({"user_annotation", "ProfilerStep#" + std::to_string(number), begin, end - begin});
    return *this;
  }
  /// The call at `begin` as PyTorch shows it, and what gloo's thread does for it, which ends at `end`.
  Rank& gloo(const std::string& function, double begin, double end, const std::string& dims = "[[4]]", int tid = 1) {
    return call("c10d::" + function, begin, "\"Input Dims\": [" + dims + "]", tid).work(function, begin + 6, end);
  }
  Rank& call(const std::string& name, double begin, const std::string& args, int tid = 1) {
    events_.push_back({"cpu_op", name, begin, 5, tid, args});
    return *this;
  }
  Rank& work(const std::string& function, double begin, double end) {
    events_.push_back({"user_annotation", "gloo:" + spelled(function), begin, end - begin, 90});
    return *this;
  }
  /// The call as record_param_comms, which says its group.
  Rank& in_group(const std::string& group, const std::string& ranks, double begin, double end, int size = 2) {
    return call("record_param_comms", begin,
                arg("Collective name", "allreduce") + ", " + arg("Process Group Name", group) + ", " +
                    arg("Process Group Ranks", ranks) + ", " + arg("Group size", size))
        .work("allreduce_", begin + 6, end);
  }
  Rank& nccl(int id, double called, double begin, double end, std::int64_t elements = 100) {
    const std::string args = arg("External id", id) + ", " + arg("Collective name", "_allgather_base") + ", " +
                             arg("In msg nelems", elements) + ", " + arg("Out msg nelems", 2 * elements) + ", " +
                             arg("Group size", 2) + ", " + arg("dtype", "Float") + ", " +
                             arg("Process Group Name", "0") + ", " + arg("Process Group Ranks", "[0, 1]");
    call("record_param_comms", called, args);
    return event({"kernel", "ncclDevKernel_AllGather_RING_LL", begin, end - begin, 7, args});
  }
  Rank& event(const HandEvent& e) {
    events_.push_back(e);
    return *this;
  }
  Rank& groups(const std::string& json) {
    groups_ = json;
    return *this;
  }
  Rank& members(const std::string& json) {
    members_ = json;
    return *this;
  }

  Rank& host(const std::string& name) {
    host_ = name;
    return *this;
  }

  std::string json(int rank, double clock_us) const {
    std::string text = R"({"distributedInfo": {"rank": )" + std::to_string(rank) +
                       R"(, "world_size": 2, "pg_config": )" + groups_ + R"(}, "host_name": ")" +
                       (host_.empty() ? "host" + std::to_string(rank) : host_) + R"(", )" + members_ +
                       R"("baseTimeNanoseconds": 1790857026000000000, "traceEvents": [)";
    for (const HandEvent& e : events_) {
      HandEvent shown = e;
      shown.ts += clock_us;
      text += (text.back() == '[' ? "" : ", ") + json_of(shown);
    }
    return text + "]}";
  }

 private:
  static std::string spelled(const std::string& function) {
    if (function == "allgather_") return "all_gather";
    return function == "barrier" ? "barrier" : function == "broadcast_" ? "broadcast" : "all_reduce";
  }
  std::vector<HandEvent> events_;
  std::string groups_ = kOneGroup, members_, host_;
};

class MergeTorchTest : public testing::Test {
 protected:
  /// The second one's clock is 500 ms behind.
  MergedRank merge(const Rank& a, const Rank& b) {
    MergeOptions options;
    options.out = folder_.path() + "/out.pt.trace.json";
    options.paths = {write(a.json(0, 1e6)), write(b.json(1, 1e6 - kBehind_us))};
    result_ = merge_traces(options);
    EXPECT_EQ(result_.error, "");
    if (!result_.error.empty()) return {};
    const MergedRank& rank = result_.ranks[1];
    if (rank.clock == "collectives") {
      EXPECT_NEAR(rank.offset_us, kBehind_us, rank.error_us);
    }
    return rank;
  }
  std::string write(const std::string& text) {
    const std::string path = folder_.path() + "/" + std::to_string(files_++) + ".json";
    std::ofstream(path) << text;
    return path;
  }
  /// Nothing is known of the second clock but the time of the day.
  void expect_apart(const Rank& a, const Rank& b) {
    const MergedRank rank = merge(a, b);
    EXPECT_EQ(rank.clock, "anchors");
    EXPECT_EQ(rank.moments, 0u);
  }
  void expect_met(const Rank& a, const Rank& b, std::uint64_t times) {
    const MergedRank rank = merge(a, b);
    EXPECT_EQ(rank.clock, times > 0 ? "collectives" : "anchors");
    EXPECT_EQ(rank.moments, 2 * times);
  }

  static constexpr double kBehind_us = 500'000;
  test::TemporaryFolder folder_;
  int files_ = 0;
  MergeResult result_;
};

// ---- steps

TEST_F(MergeTorchTest, CallsOfTheSameStepAreTheSame) {
  const auto rank = [](double late) {
    return Rank()
        .step(5, 0, 1000)
        .gloo("allreduce_", 10 + late, 100)
        .gloo("barrier", 200, 300)
        .gloo("allgather_", 400 + late, 500);
  };

  expect_met(rank(0), rank(40), 3);

  EXPECT_LT(result_.ranks[1].error_us, 105);
  EXPECT_EQ(result_.collectives, 3u);
}

TEST_F(MergeTorchTest, AStepThatOneRankLacksIsNot) {
  const auto calls = [](Rank rank, double from) {
    return rank.gloo("allreduce_", from + 10, from + 100).gloo("allreduce_", from + 200, from + 300);
  };
  const Rank first = calls(calls(Rank().step(5, 0, 1000).step(6, 1000, 2000), 0), 1000);
  const Rank second = calls(calls(Rank().step(6, 1000, 2000).step(7, 2000, 3000), 1000), 2000);

  expect_met(first, second, 2);
}

TEST_F(MergeTorchTest, AStepIsNotIfOneRankHasMoreCallsInIt) {
  const auto rank = [] { return Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100).gloo("allreduce_", 200, 300); };
  expect_apart(rank(), rank().gloo("allreduce_", 400, 500));
}

TEST_F(MergeTorchTest, AStepIsNotIfSizesDiffer) {
  expect_apart(Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100, "[[8, 3]]"),
               Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100, "[[8, 4]]"));
}

TEST_F(MergeTorchTest, AStepIsNotIfTheOrderDiffers) {
  expect_apart(Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100).gloo("barrier", 200, 300),
               Rank().step(5, 0, 1000).gloo("barrier", 10, 100).gloo("allreduce_", 200, 300));
}

TEST_F(MergeTorchTest, ACallThatCrossesTheBorderOfAStepSpoilsBoth) {
  const auto rank = [](double crossing) {
    return Rank()
        .step(5, 0, 1000)
        .step(6, 1000, 2000)
        .step(7, 2000, 3000)
        .gloo("allreduce_", 10, 100)
        .gloo("allreduce_", crossing, 1100)
        .gloo("allreduce_", 1200, 1300)
        .gloo("allreduce_", 2100, 2200);
  };
  expect_met(rank(990), rank(1010), 1);
}

TEST_F(MergeTorchTest, CallsOutsideOfStepsAreNot) {
  const auto rank = [] { return Rank().step(5, 0, 1000).gloo("allreduce_", 1010, 1100).gloo("barrier", 1200, 1300); };
  expect_apart(rank(), rank());
}

TEST_F(MergeTorchTest, NothingIsWhereANumberOfAStepComesTwiceOrStepsOverlap) {
  const auto twice = [] { return Rank().step(5, 0, 1000).step(5, 1000, 2000).gloo("allreduce_", 10, 100); };
  expect_apart(twice(), twice());
  const auto both = [] { return Rank().step(5, 0, 1000).step(6, 500, 2000).gloo("allreduce_", 10, 100); };
  expect_apart(both(), both());
}

// A thread of its own may be one call behind in every step, and nothing would show it.
TEST_F(MergeTorchTest, CallsOfAThreadThatTheStepDoesNotWaitForAreNot) {
  const auto rank = [] {
    return Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100).gloo("allreduce_", 200, 300, "[[4]]", 2);
  };
  expect_apart(rank(), rank());
  const HandEvent backward{"cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 190, 150, 2};
  expect_met(rank().event(backward), rank().event(backward), 2);
}

TEST_F(MergeTorchTest, StepsThatAreOnlyTimeSayNothing) {
  const auto rank = [](const std::string& source) {
    return Rank()
        .members(R"("profshim": {"steps": {"source": ")" + source + "\"}}, ")
        .step(5, 0, 1000)
        .gloo("allreduce_", 10, 100)
        .gloo("allreduce_", 200, 300);
  };
  expect_met(rank("torch"), rank("torch"), 2);
  expect_apart(rank("time 1 ms"), rank("time 1 ms"));
}

// ---- without steps

TEST_F(MergeTorchTest, AWindowWithoutStepsIsTheSameIfItsCallsTellWhereTheyAre) {
  const auto rank = [](double late) {
    return Rank()
        .gloo("broadcast_", 10, 20)
        .gloo("allreduce_", 100 + late, 200)
        .gloo("allreduce_", 300, 400)
        .gloo("barrier", 500 + late, 600);
  };
  expect_met(rank(0), rank(50), 3);
}

TEST_F(MergeTorchTest, AWindowWithoutStepsIsNotIfItsCallsRepeatThemselves) {
  const auto rank = [](double from) {
    Rank made;
    for (double at = from; at < from + 4000; at += 400)
      made.gloo("allreduce_", at, at + 100).gloo("barrier", at + 200, at + 300);
    return made;
  };
  expect_apart(rank(0), rank(400));
  // Too few to say.
  expect_apart(Rank().gloo("allreduce_", 10, 100), Rank().gloo("allreduce_", 410, 500));
}

// ---- groups

TEST_F(MergeTorchTest, GroupsAreCountedEachForItself) {
  const auto rank = [](bool other_first) {
    return Rank()
        .groups("[]")
        .step(5, 0, 2000)
        .in_group("0", "[0, 1]", 10, 100)
        .in_group(other_first ? "7" : "0", "[0, 1]", 200, 300)
        .in_group(other_first ? "0" : "7", "[0, 1]", 400, 500);
  };
  // The clock of the second is such that the third call of one is the second of the other.
  const RankTrace a = scan_rank_trace(write(rank(true).json(0, 0))), b = scan_rank_trace(write(rank(false).json(1, 0)));
  ASSERT_EQ(a.sync_points.size(), 3u);
  ASSERT_EQ(b.sync_points.size(), 3u);
  const auto begins = [](const RankTrace& trace, std::uint64_t key) {
    for (const SyncPoint& m : trace.sync_points)
      if (m.key == key) return m.begin_ns / 1000;
    return std::int64_t{-1};
  };
  std::map<std::int64_t, std::int64_t> pairs;
  for (const SyncPoint& m : a.sync_points) pairs[m.begin_ns / 1000] = begins(b, m.key);
  EXPECT_EQ(pairs, (std::map<std::int64_t, std::int64_t>{{16, 16}, {206, 406}, {406, 206}}));
}

TEST_F(MergeTorchTest, CallsOfAGroupOfOneDoNotCount) {
  const auto rank = [](const std::string& own) {
    return Rank().groups("[]").step(5, 0, 1000).in_group("3", own, 10, 100, 1).in_group("0", "[0, 1]", 200, 300);
  };
  expect_met(rank("[0]"), rank("[1]"), 1);
  const auto alone = [] {
    return Rank().groups(R"([{"pg_name": "0", "pg_size": 1, "ranks": [0]}])").step(5, 0, 1000).gloo("barrier", 10, 100);
  };
  expect_apart(alone(), alone());
}

TEST_F(MergeTorchTest, CallsThatDoNotSayTheirGroupCountWhereAllGroupsHaveTheSameMembers) {
  const auto rank = [](const std::string& groups) {
    return Rank().groups(groups).step(5, 0, 1000).gloo("allreduce_", 10, 100);
  };
  const std::string all = R"({"pg_name": "0", "pg_size": 2, "ranks": []})";
  expect_met(rank("[" + all + "]"), rank("[" + all + "]"), 1);
  expect_met(rank("[" + all + ", " + all + "]"), rank("[" + all + ", " + all + "]"), 1);
  const std::string others = "[" + all + R"(, {"pg_name": "1", "pg_size": 3, "ranks": [0, 1, 2]}])";
  expect_apart(rank(others), rank(others));
  expect_apart(rank("[]"), rank("[]"));
}

TEST_F(MergeTorchTest, RanksOfDifferentGroupsHaveNotMet) {
  const auto rank = [](const std::string& ranks) {
    return Rank()
        .groups(R"([{"pg_name": "0", "pg_size": 2, "ranks": )" + ranks + "}]")
        .step(5, 0, 1000)
        .gloo("barrier", 10, 100);
  };
  expect_apart(rank("[0, 2]"), rank("[1, 3]"));
}

// ---- which collectives

TEST_F(MergeTorchTest, OnlyWhatNobodyLeavesBeforeAllHaveComeCounts) {
  const auto rank = [] {
    return Rank()
        .step(5, 0, 3000)
        .gloo("broadcast_", 10, 100)
        .call("c10d::reduce_", 200, "")
        .call("c10d::alltoall_base_", 300, "")
        .call("c10d::send", 400, "")
        .gloo("allreduce_", 500, 600, "[[3, 0]]");
  };
  expect_apart(rank(), rank());
  expect_met(rank().gloo("barrier", 700, 800), rank().gloo("barrier", 700, 800), 1);
}

// A rank sends where another one receives: those say nothing of the calls of the group.
TEST_F(MergeTorchTest, MessagesAreNotCounted) {
  expect_met(Rank().step(5, 0, 1000).call("c10d::send", 10, "").gloo("barrier", 200, 300),
             Rank().step(5, 0, 1000).call("c10d::recv_", 10, "").call("c10d::recv_", 20, "").gloo("barrier", 200, 300),
             1);
}

// ---- what gloo did for a call

TEST_F(MergeTorchTest, AnAsynchronousSliceIsTheWorkAsWell) {
  const auto rank = [] {
    return Rank()
        .step(5, 0, 1000)
        .call("c10d::allreduce_", 10, "")
        .event({"user_annotation", "gloo:all_reduce", 12, 0, 1, "", "b", 3})
        .event({"user_annotation", "gloo:all_reduce", 100, 0, 90, "", "e", 3});
  };
  expect_met(rank(), rank(), 1);
  EXPECT_EQ(result_.collectives, 0u);  // no slice that an arrow could begin or end in
}

// The first of two threads may be the later one to say that it has begun.
TEST_F(MergeTorchTest, OfCallsUnderWayTogetherOnlyTheEndOfAllIsKnown) {
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

TEST_F(MergeTorchTest, ACallWhoseWorkTheWindowDoesNotShowToItsEndDoesNotCount) {
  const auto rank = [] {
    return Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100).call("c10d::allreduce_", 200, "\"Input Dims\": [[[4]]]");
  };
  expect_met(rank(), rank(), 1);
  const HandEvent cut{"user_annotation", "gloo:all_reduce", 210, 790, 90, "\"finished\": false"};
  expect_met(rank().event(cut), rank().event(cut), 1);
}

TEST_F(MergeTorchTest, WorkOfCallsBeforeTheWindowIsNotThatOfItsFirstCalls) {
  const auto rank = [] {
    return Rank()
        .work("allreduce_", 5, 8)
        .step(5, 0, 1000)
        .gloo("allreduce_", 10, 100)
        .call("c10d::allreduce_", 200, "");
  };
  expect_apart(rank(), rank());
}

TEST_F(MergeTorchTest, GloosWorkIsOfItsOwnCallsAlone) {
  const auto rank = [] { return Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100); };
  const HandEvent nccl{"user_annotation", "nccl:all_reduce", 12, 2};
  expect_met(rank(), rank(), 1);
  expect_apart(rank().event(nccl), rank().event(nccl));
}

TEST_F(MergeTorchTest, AnArrowGoesFromTheWorkOfTheLastToThatOfTheOthers) {
  expect_met(Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100), Rank().step(5, 0, 1000).gloo("allreduce_", 80, 100),
             1);

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
      EXPECT_EQ(e.pid, last_pid);  // behind that slice
      EXPECT_EQ(e.tid, last_tid);
    }
    return true;
  };
  ASSERT_TRUE(read_trace(folder_.path() + "/out.pt.trace.json", visitor).ok);
  EXPECT_NE(process["s"], process["f"]);
  EXPECT_NEAR(static_cast<double>(at_us["s"]), 86, result_.ranks[1].error_us);
  EXPECT_EQ(at_us["f"], 100);
}

// ---- NCCL

TEST_F(MergeTorchTest, KernelsWithoutNumbersAreOfTheCallThatHasTheirId) {
  const auto rank = [](double late) {
    return Rank().step(5, 0, 1000).step(6, 1000, 2000).nccl(11, 10, 900, 1100 + late).nccl(12, 700, 1200, 1300);
  };
  expect_met(rank(0), rank(20), 2);
  EXPECT_EQ(result_.collectives, 2u);
  // Both were called in step 5: on the device the second ran in step 6.
  expect_apart(rank(0), Rank().step(5, 0, 1000).step(6, 1000, 2000).nccl(11, 10, 900, 1100).nccl(12, 1010, 1200, 1300));
  expect_apart(rank(0), Rank().step(5, 0, 1000).nccl(11, 10, 900, 1100, 8).nccl(12, 700, 1200, 1300));
}

TEST_F(MergeTorchTest, KernelsOfNoCallAndSeveralOfOneAreNot) {
  const auto with = [](const HandEvent& e) { return Rank().step(5, 0, 1000).nccl(11, 10, 100, 200).event(e); };
  const HandEvent of_none{"kernel", "ncclDevKernel_AllGather_RING_LL",
                          300,      20,
                          7,        arg("External id", 99) + ", " + arg("Collective name", "_allgather_base")};
  expect_met(with(of_none), with(of_none), 1);
  HandEvent of_it = of_none;
  of_it.args = arg("External id", 11) + ", " + arg("Collective name", "_allgather_base");
  expect_apart(with(of_it), with(of_it));
  HandEvent unlinked = of_none;
  unlinked.args = arg("External id", 11);
  expect_met(with(unlinked), with(unlinked), 1);
}

// Numbers need no step; "all_gather" is what PyTorch calls that of lists.
TEST_F(MergeTorchTest, KernelsWithNumbersAreTheSameByThose) {
  const auto rank = [](const std::string& function) {
    Rank made;
    for (const int number : {7, 8}) {
      const std::string args = arg("Collective name", function) + ", " + arg("Seq", number) + ", " +
                               arg("Process Group Name", "0") + ", " + arg("Process Group Ranks", "[0, 1]");
      made.event({"kernel", "ncclDevKernel_AllGather_RING_LL", number * 100.0, 50, 7, args});
    }
    return made;
  };
  expect_met(rank("all_gather"), rank("all_gather"), 2);
  expect_met(rank("_allgather_base"), rank("_allgather_base"), 2);
  expect_apart(rank("all_to_allv"), rank("all_to_allv"));
  expect_apart(rank("broadcast"), rank("broadcast"));
}

std::string unpacked(const std::string& path) {
  std::string text;
  const gzFile file = gzopen(path.c_str(), "rb");
  char piece[65536];
  for (int n = 0; (n = gzread(file, piece, sizeof piece)) > 0;) text.append(piece, static_cast<std::size_t>(n));
  gzclose(file);
  return text;
}

/// With every "ts" so much earlier, in microseconds.
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

// Three steps of rank 0 of two on A100s, PyTorch of 2024, whose kernels have arguments and no numbers; as rank 1 the
// same half a second earlier.
TEST_F(MergeTorchTest, KernelsOfARealTraceMeetTheirLikes) {
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
  EXPECT_EQ(result.collectives, 15u);  // five of gradients in each step; of six broadcasts nobody waits for all
  EXPECT_EQ(result.ranks[1].clock, "collectives");
  EXPECT_NEAR(result.ranks[1].offset_us, kBehind_us, 1);
  EXPECT_LT(result.ranks[1].error_us, 3000);  // the shortest of these kernels take 2 ms
}

// ---- counted wrong

// Rank 1 counts its steps from another one: step by step the same calls, and none of them the same.
TEST_F(MergeTorchTest, CallsThatSpeakAgainstTheOneClockOfAHostAreNotBelieved) {
  const auto rank = [](int number, double clock_us) {
    return Rank()
        .host("one")
        .step(number, clock_us, clock_us + 1000)
        .step(number + 1, clock_us + 1000, clock_us + 2000)
        .gloo("allreduce_", clock_us + 10, clock_us + 100)
        .gloo("allreduce_", clock_us + 1010, clock_us + 1100);
  };

  // Written 500 ms earlier by merge(): here it is to be the same clock.
  const MergedRank same = merge(rank(5, 0), rank(5, kBehind_us)), other = merge(rank(5, 0), rank(4, kBehind_us));

  EXPECT_EQ(same.clock, "same host");
  EXPECT_EQ(same.moments, 4u);
  EXPECT_EQ(other.clock, "same host");
  EXPECT_EQ(other.moments, 0u);
  EXPECT_EQ(other.error_us, -1);
  ASSERT_EQ(result_.warnings.size(), 1u);
  EXPECT_NE(result_.warnings[0].find("same place in the same step"), std::string::npos);
  EXPECT_EQ(result_.collectives, 0u);
}

TEST_F(MergeTorchTest, CallsThatSpeakAgainstEachOtherAreNotBelieved) {
  const auto rank = [](double second) {
    return Rank()
        .step(5, 0, 1000)
        .step(6, 1000, 9000)
        .gloo("allreduce_", 10, 100)
        .gloo("allreduce_", second, second + 100);
  };
  expect_met(rank(1010), rank(1010), 2);
  EXPECT_TRUE(result_.warnings.empty());
  expect_apart(rank(1010), rank(1610));
  EXPECT_EQ(result_.warnings.size(), 1u);
}

// ---- what a file may say

TEST_F(MergeTorchTest, ATraceThatLostEventsHasNoCallsToCount) {
  const auto rank = [](int lost) {
    return Rank()
        .members("\"profshim\": {\"dropped_events\": " + std::to_string(lost) + "}, ")
        .step(5, 0, 1000)
        .gloo("barrier", 10, 100);
  };
  expect_met(rank(0), rank(0), 1);
  expect_apart(rank(0), rank(1));
}

TEST_F(MergeTorchTest, CallsOfSeveralProcessesAreNotCounted) {
  const std::string text = Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100).gloo("barrier", 200, 300).json(0, 0);
  EXPECT_EQ(scan_rank_trace(write(text)).sync_points.size(), 2u);
  std::string other = text;
  const std::size_t at = other.find("\"pid\"", other.find("c10d::barrier"));
  other.replace(at, std::string("\"pid\": 1").size(), "\"pid\": 2");
  EXPECT_EQ(scan_rank_trace(write(other)).sync_points.size(), 0u);
}

TEST_F(MergeTorchTest, NumbersThatNobodyCountedDoNoHarm) {
  const std::string step = R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#)";
  const std::string text =
      R"({"distributedInfo": {"rank": 0, "world_size": 2, "pg_config": [{"pg_size": 9223372036854775807, "ranks":
         [-9223372036854775808, 5]}, {"pg_size": "x", "ranks": {"a": []}}, 7]}, "traceEvents": [)" +
      step + R"(99999999999999999999999","pid":1,"tid":1,"ts":0,"dur":5},)" + step +
      R"(-9223372036854775808","pid":1,"tid":-9223372036854775808,"ts":-9e300,"dur":9e300},)" + step +
      R"(","pid":1,"tid":1,"ts":0,"dur":-7},
      {"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":1,"ts":9e300,"dur":-9e300,"args":{
       "Collective name":"allreduce","In msg nelems":-9223372036854775808,"External id":-9223372036854775808,
       "Process Group Name":"0","Process Group Ranks":"[0]","Group size":9223372036854775807}},
      {"ph":"X","cat":"kernel","name":"nccl","pid":0,"tid":7,"ts":-9e300,"dur":9e300,"args":{
       "Collective name":"allreduce","External id":-9223372036854775808}},
      {"ph":"X","cat":"cpu_op","name":"gloo:","pid":1,"tid":1,"ts":0,"dur":1},
      {"ph":"b","cat":"c","name":"gloo:all_reduce","id":-1,"pid":1,"tid":1,"ts":9e300},
      {"ph":"e","cat":"c","name":"gloo:all_reduce","id":-1,"pid":1,"tid":1,"ts":-9e300},
      {"ph":"X","cat":"cpu_op","name":"c10d::","pid":1,"tid":1,"ts":0,"dur":1,"args":{"Input Dims":[[0]]}}]})";
  EXPECT_EQ(scan_rank_trace(write(text)).error, "");
}

}  // namespace
}  // namespace profshim
