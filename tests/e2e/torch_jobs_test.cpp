// Real PyTorch (Debian's python3-torch), scripts that know nothing of us: the operators that the trace has are those
// that torch.profiler counts in the same process for the same steps.
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <set>

#include "e2e/run_under_shim.h"

namespace profshim::e2e {
namespace {

const std::string kPython = "/usr/bin/python3";

bool torch_is_here() {
  static const bool answer = [] {
    Job job{.command = {kPython, "-c", "import torch"}, .preload = false};
    return run(job).ending() == "exit 0";
  }();
  return answer;
}

#define NEEDS_TORCH() \
  if (!torch_is_here()) GTEST_SKIP() << "no PyTorch: apt install python3-torch"

std::string app(const char* name) { return PROFSHIM_SOURCE_DIR "/tests/apps_torch/" + std::string(name); }

/// Two ranks with the variables that torchrun gives them (Debian's torchrun does not start with its Python).
Job two_ranks(const ScratchFolder& scratch, const std::string& arguments) {
  Job job = shell(
      "port=$((10000 + $$ % 20000)); for r in 0 1; do RANK=$r LOCAL_RANK=$r WORLD_SIZE=2 "
      "LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port " +
      kPython + " " + app("train_ddp.py") + " " + arguments +
      " & p=\"$p $!\"; done; s=0; for i in $p; do "
      "wait $i || s=1; done; exit $s");
  job.folder = scratch.path();
  job.limit_seconds = 120;
  job.environment = {{"OMP_NUM_THREADS", "1"},
                     {"GLOO_SOCKET_IFNAME", "lo"},
                     {"PROFSHIM_RANKS", "all"},
                     {"PROFSHIM_SET", "output.gzip=false output.folder='" + (scratch / "traces") + "'"}};
  return job;
}

/// A script without a launcher.
Job alone(const ScratchFolder& scratch, const char* script, const std::string& keys) {
  Job job{.command = {kPython, app(script)}};
  job.folder = scratch.path();
  job.environment = {{"OMP_NUM_THREADS", "1"},
                     {"PROFSHIM_SET", keys + " output.folder='" + (scratch / "traces") + "'"}};
  return job;
}

std::map<std::string, int> torchs_counts(const std::string& path) {
  rapidjson::Document json;
  json.Parse(text_of_file(path).c_str());
  std::map<std::string, int> counts;
  EXPECT_TRUE(json.IsObject());
  if (!json.IsObject()) return counts;
  for (const auto& member : json.GetObject()) counts[member.name.GetString()] = member.value.GetInt();
  return counts;
}

std::map<std::string, int> our_counts(const SeenTrace& trace) {
  std::map<std::string, int> counts = trace.counts("cpu_op");
  for (const auto& [name, count] : trace.counts("user_annotation"))
    if (name.rfind("ProfilerStep#", 0) != 0) counts[name] = count;
  return counts;
}

/// "name: ours, theirs" for each that is not the same. Not gloo's own: torch.profiler lacks the last one when gloo's
/// thread has not come to its end yet.
std::string differences(const std::map<std::string, int>& ours, const std::map<std::string, int>& theirs) {
  std::map<std::string, std::pair<int, int>> both;
  for (const auto& [name, count] : ours) both[name].first = count;
  for (const auto& [name, count] : theirs) both[name].second = count;
  std::string text;
  for (const auto& [name, counts] : both) {
    if (counts.first == counts.second || name.rfind("gloo:", 0) == 0) continue;
    text += name + ": " + std::to_string(counts.first) + ", " + std::to_string(counts.second) + "\n";
  }
  return text;
}

class TorchTraining : public testing::TestWithParam<const char*> {};

TEST_P(TorchTraining, HasTheOperatorsThatTorchCounts) {
  NEEDS_TORCH();
  const ScratchFolder scratch;
  const std::string arguments = GetParam();
  Job job = two_ranks(scratch, arguments + " --counts " + (scratch / "counts.json"));

  job.preload = false;
  const Outcome without = run(job);
  job.preload = true;
  const Outcome with = run(job);

  EXPECT_EQ(without.ending(), "exit 0") << without.err;
  EXPECT_EQ(with.ending(), "exit 0") << with.err;
  EXPECT_EQ(with.out, without.out);
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 2u) << with.err;
  const auto expected = torchs_counts(scratch / "counts.json");
  EXPECT_GT(expected.size(), 40u);
  for (const SeenTrace& trace : traces) {
    EXPECT_EQ(differences(our_counts(trace), expected), "") << "rank " << trace.rank();
    EXPECT_EQ(trace.calls("gloo:all_reduce").size(), trace.calls("DistributedDataParallel.forward").size());
    EXPECT_EQ(trace.steps(), (std::vector<std::int64_t>{11, 12, 13}));
    EXPECT_EQ(json_member(trace.metadata.at("distributedInfo"), "world_size"), "2");
    EXPECT_EQ(trace.fact("problems"), "[]");
    const Outcome verdict = profshim({"verify", trace.path});
    EXPECT_EQ(verdict.ending(), "exit 0") << verdict.out;
  }
}

INSTANTIATE_TEST_SUITE_P(Real, TorchTraining, testing::Values("", "--accumulate 4", "--workers 2"),
                         [](const auto& row) {
                           const std::string arguments = row.param;
                           return arguments.empty() ? std::string("plain") : arguments.substr(2, 7);
                         });

// A step ends with the optimizer's: forward, backward and optimizer of one iteration lie in one.
TEST(TorchSteps, HoldOneIterationEach) {
  NEEDS_TORCH();
  const ScratchFolder scratch;

  const Outcome outcome = run(two_ranks(scratch, "--accumulate 3"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_NE(outcome.err.find("steps from torch \"Optimizer.step#*\", 20 seen"), std::string::npos) << outcome.err;
  for (const SeenTrace& trace : read_folder(scratch / "traces")) {
    const auto optimizer = trace.calls("Optimizer.step#SGD.step");
    ASSERT_EQ(optimizer.size(), 3u);
    for (int i = 0; i < 3; ++i) {
      const auto step = trace.calls("ProfilerStep#" + std::to_string(11 + i));
      ASSERT_EQ(step.size(), 1u);
      const auto inside = [&](const SeenEvent* e) {
        return e->ts_ns >= step[0]->ts_ns && e->ts_ns + e->duration_ns <= step[0]->ts_ns + step[0]->duration_ns;
      };
      const auto forwards = trace.calls("DistributedDataParallel.forward");
      EXPECT_EQ(std::count_if(forwards.begin(), forwards.end(), inside), 3);
      EXPECT_EQ(std::count_if(optimizer.begin(), optimizer.end(), inside), 1);
    }
  }
}

// Forward passes are steps only when no optimizer has shown itself in the first eight.
TEST(TorchSteps, AreForwardPassesWhereThereIsNoOptimizer) {
  NEEDS_TORCH();
  const ScratchFolder scratch;

  const Outcome outcome = run(two_ranks(scratch, "--by-hand"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_NE(outcome.err.find("steps from torch \"DistributedDataParallel.forward\", 13 seen"), std::string::npos)
      << outcome.err;
}

TEST(TorchSteps, AreThoseThatTheSpecNames) {
  NEEDS_TORCH();
  const ScratchFolder scratch;

  const Outcome outcome =
      run(alone(scratch, "infer.py", "steps.source=torch steps.pattern='my range' schedule.steps=[2,3]"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(traces[0].steps(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(traces[0].calls("aten::linear").size(), 2u);
}

// A range may come through both, as with emit_nvtx().
TEST(TorchSteps, AreNotThoseOfNvtx) {
  NEEDS_TORCH();
  const ScratchFolder scratch;

  const Outcome outcome =
      run(alone(scratch, "infer.py", "steps.source=nvtx steps.pattern='my range' steps.epoch='epoch *'"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_NE(outcome.err.find("no steps found"), std::string::npos) << outcome.err;
}

TEST(TorchPrograms, AProcessAloneIsAJobOfOne) {
  NEEDS_TORCH();
  const ScratchFolder scratch;

  const Outcome outcome = run(alone(scratch, "infer.py", "steps.source=none"));

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

TEST(TorchPrograms, RangesThatEndOnAnotherThreadTakeNoRoom) {
  NEEDS_TORCH();
  const ScratchFolder scratch;

  const Outcome outcome = run(alone(scratch, "async_ranges.py", "steps.source=none"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(traces[0].fact("dropped_events"), "0");
  EXPECT_EQ(traces[0].calls("outer").size(), 100u);
  EXPECT_EQ(traces[0].calls("aten::ones").size(), 100u);
  const auto pending = traces[0].calls("asynchronous");
  ASSERT_EQ(pending.size(), 100u);
  for (const SeenEvent* range : pending) EXPECT_EQ(range->args.count("finished"), 1u);
}

TEST(TorchPrograms, AnImportAloneLeavesNothing) {
  NEEDS_TORCH();
  const ScratchFolder scratch;
  Job job{.command = {kPython, app("import_only.py")}};
  job.folder = scratch.path();
  job.environment = {{"PROFSHIM_SET", "steps.source=none"}};

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(outcome.out, "torch\n");
  EXPECT_TRUE(outcome.shim_lines().empty()) << outcome.err;
  EXPECT_TRUE(files_below(scratch.path()).empty());
}

TEST(TorchPrograms, OperatorsThatAreNotWantedAreNotThere) {
  NEEDS_TORCH();
  const ScratchFolder scratch;
  Job job{.command = {kPython, app("infer.py")}};
  job.folder = scratch.path();
  job.environment = {{"PROFSHIM_ACTIVITIES", "mpi,nvtx"},
                     {"PROFSHIM_SET", "steps.source=none output.folder='" + (scratch / "traces") + "'"}};

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  for (const SeenTrace& trace : read_folder(scratch / "traces")) EXPECT_TRUE(trace.counts("cpu_op").empty());
}

}  // namespace
}  // namespace profshim::e2e
