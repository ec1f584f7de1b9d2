#include <gtest/gtest.h>

#include "e2e/support/run_under_shim.h"
#include "e2e/support/runner_hints.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

using Args = SeenArgs;

/// The outcome without the library, for both tests.
const Outcome& without_us() {
  static const Outcome outcome = [] {
    const ScratchFolder scratch;
    Job job = torch_job(scratch, Launch::kTwoRanks, "collectives.py");
    job.preload = false;
    return run(job);
  }();
  return outcome;
}

std::vector<SeenTrace> traces_of_collectives(const ScratchFolder& scratch, const std::string& keys) {
  expect_same(
      {without_us(), run(torch_job(scratch, Launch::kTwoRanks, "collectives.py", "steps.source=none " + keys))});
  return read_folder(scratch / "traces");
}

std::vector<Args> comms(const SeenTrace& trace, const std::string& op) {
  std::vector<Args> found;
  for (const SeenEvent* call : trace.calls(op)) {
    for (const SeenEvent* inner : trace.calls("record_param_comms")) {
      if (inner->tid == call->tid && inner->ts_ns == call->ts_ns) found.push_back(inner->args);
    }
  }
  return found;
}

RUNS_IN_ONE_PROCESS(TorchGroups);

TEST(TorchGroups, CollectivesDescribeTheirData) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const auto traces = traces_of_collectives(scratch, "capture.record_shapes=true");

  ASSERT_EQ(traces.size(), 2u);
  for (const SeenTrace& trace : traces) {
    const std::string rank = std::to_string(trace.rank());
    const auto reduced = comms(trace, "c10d::allreduce_");
    ASSERT_EQ(reduced.size(), 3u);
    EXPECT_EQ(reduced[0], (Args{{"Collective name", "allreduce"},
                                {"In msg nelems", "6"},
                                {"Out msg nelems", "6"},
                                {"dtype", "Float"},
                                {"Group size", "2"},
                                {"Process Group Name", "0"},
                                {"Process Group Ranks", "[0, 1]"},
                                {"Rank", rank}}));
    EXPECT_EQ(reduced[2].at("In msg nelems"), "11");
    EXPECT_EQ(reduced[2].at("Group size"), "2");
    const auto name = reduced[2].find("Process Group Name");
    EXPECT_TRUE(name == reduced[2].end() || name->second != "0");
    const auto gathered = comms(trace, "c10d::allgather_"), broadcast = comms(trace, "c10d::broadcast_");
    // PyTorch itself may call collectives earlier, to make groups.
    ASSERT_FALSE(gathered.empty());
    EXPECT_EQ(gathered.back().at("In msg nelems"), "5");
    EXPECT_EQ(gathered.back().at("Out msg nelems"), "10");
    ASSERT_FALSE(broadcast.empty());
    EXPECT_EQ(broadcast.back().at("dtype"), "Long");
    EXPECT_EQ(broadcast.back().at("In msg nelems"), "7");
    EXPECT_EQ(broadcast.back().at("Root Rank"), "1");
    const auto message = comms(trace, trace.rank() == 0 ? "c10d::send" : "c10d::recv_");
    ASSERT_EQ(message.size(), 1u);
    EXPECT_EQ(message[0].at("In msg nelems"), "9");
    EXPECT_EQ(message[0].at(trace.rank() == 0 ? "Dst Rank" : "Src Rank"), trace.rank() == 0 ? "1" : "0");
    EXPECT_EQ(comms(trace, "c10d::barrier").size(), trace.calls("c10d::barrier").size());
    const Outcome verdict = profshim({"verify", trace.path});
    EXPECT_EQ(verdict.ending(), "exit 0") << verdict.out;
  }
}

TEST(TorchGroups, AreInTheMetadata) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const auto traces = traces_of_collectives(scratch, "");

  ASSERT_EQ(traces.size(), 2u);
  for (const SeenTrace& trace : traces) {
    const std::string& info = trace.metadata.at("distributedInfo");
    EXPECT_EQ(json_member(info, "backend"), "gloo");
    EXPECT_NE(info.find(R"("pg_name":"0","pg_desc":"default_pg","backend_config":"gloo")"), std::string::npos) << info;
    // With two groups, only the inputs of a call show its group.
    for (const Args& args : comms(trace, "c10d::allreduce_")) {
      EXPECT_EQ(args.count("Group size"), 0u);
      EXPECT_EQ(args.count("In msg nelems"), 0u);
      EXPECT_EQ(args.at("Collective name"), "allreduce");
    }
  }
}

}  // namespace
}  // namespace profshim::e2e
