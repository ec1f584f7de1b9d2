#include <gtest/gtest.h>

#include <set>

#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

// The job calls zero_grad() and changes the parameters itself.
TEST(TorchSteps, ComeFromAnotherRangeIfTheOptimizerMakesNoSteps) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome = run(without_compiler(torch_job(scratch, Launch::kTwoRanks, "train_ddp.py --by-hand")));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_NE(outcome.err.find("steps from torch \"Optimizer.zero_grad#SGD.zero_grad\", 20 seen, confidence high"),
            std::string::npos)
      << outcome.err;
}

// 40 iterations step the second optimizer, the first 20 both.
TEST(TorchSteps, AreIterationsOfSeveralOptimizers) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome = run(without_compiler(torch_job(scratch, Launch::kAlone, "two_optimizers.py")));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_NE(outcome.err.find("steps from torch \"Optimizer.step#SGD.step\", 40 seen, confidence "), std::string::npos)
      << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(traces[0].calls("Optimizer.step#SGD.step").size(), 3u);
  EXPECT_EQ(traces[0].calls("Optimizer.step#Adam.step").size(), 3u);
}

TEST(TorchSteps, AreThoseThatTheSpecNames) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome = run(torch_job(scratch, Launch::kAlone, "infer.py",
                                        "steps.source=torch steps.pattern='my range' schedule.steps=[2,3]"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(traces[0].steps(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(traces[0].calls("aten::linear").size(), 2u);
}

// emit_nvtx() repeats each range of PyTorch as an NVTX range.
TEST(TorchSteps, AreNotThoseOfNvtx) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome = run(torch_job(scratch, Launch::kAlone, "infer.py",
                                        "steps.source=nvtx steps.pattern='my range' steps.epoch='epoch *'"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_NE(outcome.err.find("no steps found"), std::string::npos) << outcome.err;
}

TEST(TorchPrograms, SingleProcessIsAJobOfOneRank) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome = run(torch_job(scratch, Launch::kAlone, "infer.py", "steps.source=none"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.out, "done\n");
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  std::map<std::int64_t, int> by_thread;
  for (const SeenEvent* range : traces[0].calls("my range")) {
    EXPECT_EQ(range->category, "user_annotation");
    ++by_thread[range->tid];
  }
  std::multiset<int> counts;
  for (const auto& [tid, count] : by_thread) counts.insert(count);
  EXPECT_EQ(counts, (std::multiset<int>{5, 10}));
  EXPECT_EQ(traces[0].calls("aten::linear").size(), 15u);
}

// A program linked with MPI gets its rank from MPI_Init. Debian links PyTorch 2.6 itself with MPI.
TEST(TorchPrograms, MpiIsWaitedForUnlessOnlyPyTorchIsLinkedWithIt) {
  NEEDS_TORCH(1);
  for (const bool is_pytorchs : {true, false}) {
    const ScratchFolder scratch;
    const std::string library = scratch / (is_pytorchs ? "libtorch_linked_with_mpi.so" : "libmesh.so");
    Job build = shell("mpicc." + to_string(installed_mpis().front()) +
                      " -shared -Wl,--no-as-needed -x c /dev/null -o '" + library + "'");
    build.preload = false;
    const Outcome built = run(build);
    ASSERT_EQ(built.ending(), "exit 0") << built.err;
    Job job = torch_job(scratch, Launch::kAlone, "stacks.py", "steps.source=none");
    job.command = {torch_python(), "-c",
                   "import ctypes; ctypes.CDLL('" + library + "'); import torch; print((torch.ones(2) + 1).sum())"};

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    EXPECT_EQ(read_folder(scratch / "traces").size(), is_pytorchs ? 1u : 0u) << outcome.err;
  }
}

TEST(TorchPrograms, RangesThatEndOnAnotherThreadReleaseTheirSlots) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome = run(torch_job(scratch, Launch::kAlone, "async_ranges.py", "steps.source=none"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(traces[0].property("dropped_events"), "0");
  EXPECT_EQ(traces[0].calls("outer").size(), 100u);
  EXPECT_EQ(traces[0].calls("aten::ones").size(), 100u);
  std::map<std::int64_t, std::pair<const SeenEvent*, const SeenEvent*>> ranges;
  for (const SeenEvent& e : traces[0].events) {
    if (e.name == "asynchronous") (e.phase == "b" ? ranges[e.id].first : ranges[e.id].second) = &e;
  }
  EXPECT_EQ(ranges.size(), 100u);
  for (const auto& [id, range] : ranges) {
    ASSERT_TRUE(range.first != nullptr && range.second != nullptr);
    EXPECT_EQ(range.first->tid, traces[0].calls("outer")[0]->tid);
    EXPECT_NE(range.second->tid, range.first->tid);
    EXPECT_LT(range.first->ts_ns, range.second->ts_ns);
    EXPECT_EQ(range.first->args.count("finished"), 0u);
  }
}

// A parent without a rank may launch several children. Each would record as the only rank of its own job.
TEST(TorchPrograms, ChildOfAProcessWithoutARankIsNoJob) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome = run(torch_job(scratch, Launch::kAlone, "starts_another.py"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.out, "done\n");
  EXPECT_TRUE(outcome.shim_lines().empty()) << outcome.err;
  EXPECT_TRUE(read_folder(scratch / "traces").empty());
}

TEST(TorchPrograms, ImportAloneWritesNoFile) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  Job job = torch_job(scratch, Launch::kAlone, "import_only.py", "steps.source=none");

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(outcome.out, "torch\n");
  EXPECT_TRUE(outcome.shim_lines().empty()) << outcome.err;
  EXPECT_TRUE(files_below(scratch.path()).empty());
}

TEST(TorchPrograms, UnwantedOperatorsAreNotRecorded) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  Job job = torch_job(scratch, Launch::kAlone, "infer.py", "steps.source=none");
  job.environment.emplace_back("PROFSHIM_ACTIVITIES", "mpi,nvtx");

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  for (const SeenTrace& trace : read_folder(scratch / "traces")) EXPECT_TRUE(trace.counts("cpu_op").empty());
}

}  // namespace
}  // namespace profshim::e2e
