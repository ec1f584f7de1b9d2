// Processes of several roles and world sizes that a raylet starts: without Ray, and in a cluster of Ray.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>

#include "e2e/support/built_programs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/runner_hints.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

using Counts = std::map<std::string, int>;
const Counts kSeven = {{"Rollout 0", 2}, {"Trainer 0", 1}, {"Trainer 1", 1}, {"Trial 0", 3}};

/// Counts traces by role and rank.
Counts roles_and_ranks(const std::string& folder) {
  Counts counts;
  for (const SeenTrace& trace : read_folder(folder))
    ++counts[json_member(trace.property("scope"), "role") + " " + std::to_string(trace.rank())];
  return counts;
}

/// The traces of two trainers, two rollout engines and three trials lie in folders below "profshim".
Outcome run_actors(const ScratchFolder& scratch, const std::string& session) {
  Job job;
  job.command = {torch_python(), torch_app("launchers/ray_like.py"), session};
  job.folder = scratch.path();
  job.environment = {{"OMP_NUM_THREADS", "1"}, {"PROFSHIM_RANKS", "all"}};
  return run(job);
}

RUNS_IN_ONE_PROCESS(RayLike);

/// All tests read one recording.
class RayLike : public testing::Test {
 protected:
  void SetUp() override {
    NEEDS_TORCH(1);
    if (!outcome_) outcome_ = run_actors(scratch(), "session_1");
    ASSERT_EQ(outcome_->ending(), "exit 0") << outcome_->err;
  }
  static void TearDownTestSuite() {
    outcome_.reset();
    scratch_.reset();
  }
  static const ScratchFolder& scratch() {
    if (!scratch_) scratch_ = std::make_unique<ScratchFolder>();
    return *scratch_;
  }
  static std::string runs() { return scratch() / "profshim"; }
  /// Runs a command on the folder around the run folders.
  static Outcome tool(const std::string& command, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {command, runs()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return profshim(arguments);
  }

 private:
  static inline std::unique_ptr<ScratchFolder> scratch_;
  static inline std::optional<Outcome> outcome_;
};

TEST_F(RayLike, EachProcessLeavesATrace) {
  Counts of_all = kSeven;
  of_all[" 0"] = 1;  // the driver

  EXPECT_EQ(roles_and_ranks(runs()), of_all);
}

TEST(RayLikeJobs, InitLeavesTheStepsToEachGroup) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const Outcome outcome =
      run({.command = {tool_path(), "init", "--", torch_python(), torch_app("launchers/ray_like.py"), "session_1"},
           .environment = {{"OMP_NUM_THREADS", "1"}},
           .folder = scratch.path(),
           .preload = false});

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_TRUE(holds(outcome.out, "# Seen: launcher Ray, PyTorch ")) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, " groups of processes\n")) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "\nsource = \"auto\"")) << outcome.out;
}

TEST_F(RayLike, ReportShowsTheGroupsApart) {
  const std::string page = scratch() / "report.html";

  const Outcome made = tool("report", {"-o", page});

  ASSERT_EQ(made.ending(), "exit 0") << made.err;
  EXPECT_EQ(made.err, "");
  EXPECT_TRUE(made.out.starts_with("Group 0: ")) << made.out;
  EXPECT_TRUE(holds(made.out, ": Trainer, ranks 0-1 of 2, in ")) << made.out;
  EXPECT_TRUE(holds(made.out, ": Trial, rank 0 of 1, in ")) << made.out;
  const std::string text = text_of_file(page);
  EXPECT_TRUE(holds(text, "<article id=\"group-6\">"));
  EXPECT_FALSE(holds(text, "<article id=\"group-7\">"));
}

TEST_F(RayLike, OtherCommandsTellGroupsApart) {
  const Outcome list = tool("ls"), summary = tool("summary"), json = tool("summary", {"--json"}),
                verified = tool("verify", {"--spec", scratch().write("ci.toml",
                                                                     "version = 1\n[check]\nmin_traces = 8\n"
                                                                     "ranks = \"all\"\n")});

  EXPECT_EQ(list.ending(), "exit 0") << list.out;
  EXPECT_TRUE(holds(list.out, ": Trainer, ranks 0-1 of 2\n")) << list.out;
  EXPECT_TRUE(holds(list.out, "\n7 groups of processes of one launch\n")) << list.out;
  EXPECT_EQ(summary.ending(), "exit 0") << summary.err;
  EXPECT_TRUE(holds(summary.out, ": Trial, rank 0 of 1, in ")) << summary.out;
  EXPECT_TRUE(json.out.starts_with("{\"groups\": [")) << json.out;
  EXPECT_EQ(verified.ending(), "exit 0") << verified.out << verified.err;
  EXPECT_TRUE(holds(verified.out, ": Trainer, ranks 0-1 of 2, in ")) << verified.out;
  EXPECT_TRUE(holds(verified.out, "every rank of \"all\" has a trace")) << verified.out;
}

TEST_F(RayLike, CommandsThatTakeOneJobNameTheGroups) {
  for (const Outcome& refused :
       {tool("merge", {"-o", scratch() / "all.json"}), tool("compare", {runs()}), tool("summary", {"--csv"})}) {
    EXPECT_EQ(refused.ending(), "exit 2");
    EXPECT_TRUE(holds(refused.err, "of 7 groups of processes of one launch")) << refused.err;
    EXPECT_TRUE(holds(refused.err, ": Trainer, ranks 0-1 of 2, in ")) << refused.err;
  }
}

TEST_F(RayLike, TracesOfSeveralClustersAreOfSeveralLaunches) {
  const std::string both = scratch() / "both", page = scratch() / "report.html";
  std::filesystem::copy(runs(), both, std::filesystem::copy_options::recursive);
  const std::string run = std::filesystem::directory_iterator(both)->path(), file = run + "/.profshim-run";
  std::string text = text_of_file(file);
  const std::size_t at = text.find("\nlaunch ");
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, text.find('\n', at + 1) - at, "\nlaunch ray-session_2");
  std::ofstream(file) << text;

  const Outcome refused = profshim({"report", both, "-o", page}),
                told = profshim({"report", both, "-o", page, "--several-runs"});

  EXPECT_EQ(refused.ending(), "exit 2");
  EXPECT_TRUE(holds(refused.err, ": name the traces of one job")) << refused.err;
  EXPECT_EQ(told.ending(), "exit 0") << told.err;
  EXPECT_TRUE(holds(told.out, "\nGroup 6: ")) << told.out;
}

/// Returns "" unless scripts/loops_venv.sh has made the environment of tests/loops, which has Ray.
std::string python_with_ray() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  const std::string parent = cache != nullptr ? cache : std::string(home != nullptr ? home : "") + "/.cache";
  const std::string python = parent + "/profshim/loops-venv/bin/python";
  return std::filesystem::exists(python) ? python : "";
}

TEST(RayCluster, ReportShowsTheGroupsOfActorsApart) {
  if (python_with_ray().empty()) GTEST_SKIP() << "no Ray: scripts/loops_venv.sh installs it";
  const ScratchFolder scratch;
  const std::string traces = scratch / "traces";
  const Outcome outcome =
      run({.command = {python_with_ray(), torch_app("launchers/ray_cluster.py"), shim_path(), traces},
           .folder = scratch.path(),
           .preload = false});
  ASSERT_EQ(outcome.ending(), "exit 0") << outcome.err;

  // Ray kills an actor 100 ms after SIGTERM (RAY_kill_worker_timeout_milliseconds), on a busy machine before its trace
  // is written or its steps are found.
  const Outcome recovered = profshim({"recover", traces});
  const Outcome made = profshim({"report", traces, "-o", scratch / "report.html"});

  EXPECT_EQ(recovered.ending(), "exit 0") << recovered.err;
  EXPECT_EQ(roles_and_ranks(traces), kSeven) << outcome.err;
  EXPECT_EQ(made.ending(), "exit 0") << made.err;
  for (const char* const title : {": Trainer, ranks 0-1 of 2, in Trainer-", ": Rollout, rank 0 of 1, in Rollout-",
                                  "Group 5: Trial, rank 0 of 1, in Trial-"}) {
    EXPECT_TRUE(holds(made.out, title)) << made.out;
  }
  EXPECT_FALSE(holds(made.out, "Group 6")) << made.out;
}

}  // namespace
}  // namespace profshim::e2e
