// Children that a program starts after it has used PyTorch itself: ranks, trainers of their own, and helpers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

namespace fs = std::filesystem;

const char* const kSgd = "Optimizer.step#SGD.step";

/// Words of trained_parent.py.
struct Family {
  const char *parent, *method, *child;
  int count = 2;
};
void PrintTo(const Family& family, std::ostream* out) {
  *out << family.parent << " " << family.method << " " << family.child << " " << family.count;
}
std::string name_of(const testing::TestParamInfo<Family>& row) {
  const Family& family = row.param;
  return std::string(family.parent) + "_" + family.method + "_" + family.child + "_" + std::to_string(family.count);
}

Job job_of(const ScratchFolder& scratch, const Family& family, const std::string& keys = "") {
  std::ostringstream command;
  command << "launchers/trained_parent.py ";
  PrintTo(family, &command);
  return torch_job(scratch, Launch::kAlone, command.str(), keys);
}

/// Reads all run folders.
std::vector<SeenTrace> traces_of(const ScratchFolder& scratch) {
  std::vector<SeenTrace> traces;
  for (const auto& entry : fs::directory_iterator(scratch.path())) {
    if (!entry.is_directory()) continue;
    for (SeenTrace& trace : read_folder(entry.path())) traces.push_back(std::move(trace));
  }
  return traces;
}

std::string run_folder_of(const SeenTrace& trace) { return fs::path(trace.path).parent_path().parent_path(); }

void expect_complete(const SeenTrace& trace) {
  EXPECT_EQ(trace.property("problems"), "[]") << trace.path;
  EXPECT_EQ(trace.property("dropped_events"), "0") << trace.path;
  EXPECT_EQ(trace.property("complete"), "true") << trace.path;
}

class RanksOfAParent : public testing::TestWithParam<Family> {};

TEST_P(RanksOfAParent, AreRecordedInOneFolder) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const Family& family = GetParam();

  const Outcome outcome = run(job_of(scratch, family));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.out, "done\n");
  std::multiset<int> ranks;
  std::set<std::string> folders;
  for (const SeenTrace& trace : traces_of(scratch)) {
    if (json_member(trace.metadata.at("distributedInfo"), "world_size") != std::to_string(family.count)) continue;
    ranks.insert(trace.rank());
    folders.insert(run_folder_of(trace));
    expect_complete(trace);
    expect_whole_steps(trace, kSgd);
    EXPECT_EQ(calls_in_step(trace, 12, "DistributedDataParallel.forward"), 1);
  }
  std::multiset<int> expected;
  for (int rank = 0; rank < family.count; ++rank) expected.insert(rank);
  EXPECT_EQ(ranks, expected) << outcome.err;
  ASSERT_EQ(folders.size(), 1u);
  // A parent that records has the folder of the spec: its ranks have one inside.
  const std::string named = scratch / "traces";
  EXPECT_TRUE(*folders.begin() == named || folders.begin()->starts_with(named + "/")) << *folders.begin();
  const Outcome listed = profshim({"ls", named});
  EXPECT_EQ(listed.out.find("is in no manifest"), std::string::npos) << listed.out;
  EXPECT_NE(listed.out.find(*folders.begin() == named ? "step11" : *folders.begin()), std::string::npos) << listed.out;
}

INSTANTIATE_TEST_SUITE_P(Real, RanksOfAParent,
                         testing::Values(Family{"none", "fork", "env"}, Family{"ops", "fork", "env", 3},
                                         Family{"trained", "fork", "env"}, Family{"trained", "spawn", "env"},
                                         Family{"ops", "spawn", "group"}, Family{"trained", "spawn", "group", 3},
                                         Family{"trained", "fork", "group"}, Family{"steps", "forkserver", "group"},
                                         Family{"open", "fork", "env"}),
                         name_of);

class TrainersOfAParent : public testing::TestWithParam<Family> {};

// Each is a job of one rank, as if it had been started on its own.
TEST_P(TrainersOfAParent, AreRecordedInFoldersOfTheirOwn) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const Family& family = GetParam();

  const Outcome outcome = run(job_of(scratch, family));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.out, "done\n");
  const bool parent_trains = std::string_view(family.parent) == "steps" || std::string_view(family.parent) == "open";
  std::set<std::string> folders;
  std::size_t count = 0;
  for (const SeenTrace& trace : traces_of(scratch)) {
    if (trace.calls(kSgd).empty()) continue;  // of a parent that calls operators in a loop
    ++count;
    folders.insert(run_folder_of(trace));
    EXPECT_EQ(trace.rank(), 0);
    expect_complete(trace);
    expect_whole_steps(trace, kSgd);
    const Outcome verdict = profshim({"verify", trace.path});
    EXPECT_EQ(verdict.ending(), "exit 0") << verdict.out;
  }
  const auto expected = static_cast<std::size_t>(family.count + (parent_trains ? 1 : 0));
  EXPECT_EQ(count, expected) << outcome.err;
  EXPECT_EQ(folders.size(), expected);
}

INSTANTIATE_TEST_SUITE_P(Real, TrainersOfAParent,
                         testing::Values(Family{"none", "fork", "hogwild"}, Family{"ops", "spawn", "hogwild", 1},
                                         Family{"trained", "fork", "hogwild"}, Family{"steps", "spawn", "hogwild"},
                                         Family{"trained", "spawn", "program", 1}, Family{"open", "fork", "hogwild"},
                                         Family{"open", "spawn", "hogwild", 1}, Family{"open", "_Fork", "hogwild"}),
                         name_of);

TEST(TrainersOfJoblib, AreRecordedInFoldersOfTheirOwn) {
  NEEDS_TORCH(1);
  const Job asks{.command = {torch_python(), "-c", "import joblib"}, .preload = false};
  if (run(asks).ending() != "exit 0") GTEST_SKIP() << "no joblib in " << torch_python();
  for (const char* parent : {"none", "trained"}) {
    const ScratchFolder scratch;

    const Outcome outcome = run(job_of(scratch, {parent, "spawn", "joblib"}));

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    std::set<std::string> folders;
    for (const SeenTrace& trace : traces_of(scratch)) {
      if (!trace.calls(kSgd).empty()) folders.insert(run_folder_of(trace));
    }
    EXPECT_EQ(folders.size(), 2u) << outcome.err;
  }
}

class OtherChildren : public testing::TestWithParam<Family> {};

// Operators alone make a rank, but not in workers that prepare data.
TEST_P(OtherChildren, AreRecordedUnlessTheyAreHelpers) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const Family& family = GetParam();

  const Outcome outcome = run(job_of(scratch, family, "steps.source=none"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.out, "done\n");
  const bool are_helpers = std::string_view(family.child) != "infer";
  const std::size_t parents = std::string_view(family.parent) == "none" ? 0 : 1;
  const auto traces = traces_of(scratch);
  EXPECT_EQ(traces.size(), parents + (are_helpers ? 0 : static_cast<std::size_t>(family.count))) << outcome.err;
  for (const SeenTrace& trace : traces) expect_complete(trace);
  EXPECT_EQ(outcome.shim_lines().size(), traces.size()) << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(Real, OtherChildren,
                         testing::Values(Family{"steps", "fork", "infer"}, Family{"steps", "spawn", "infer"},
                                         Family{"trained", "fork", "loader"}, Family{"steps", "spawn", "loader"},
                                         Family{"steps", "forkserver", "loader"}, Family{"steps", "fork", "pool"},
                                         Family{"trained", "spawn", "pool"}, Family{"steps", "fork", "executor"}),
                         name_of);

// A child with the rank of its parent is a helper. One that looks like a rank is said to be none.
TEST(ChildrenOfARank, AreNamedIfTheyCallManyOperators) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  for (const char* method : {"fork", "spawn"}) {
    Job job = job_of(scratch, {"steps", method, "infer", 1});
    job.environment.insert(job.environment.end(), {{"RANK", "0"}, {"WORLD_SIZE", "1"}});

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    EXPECT_NE(outcome.err.find(" is not recorded: it has called 1000 operators of PyTorch and made no step, and has "
                               "rank 0 of its parent; if it is a rank, set RANK in it to a rank of its own"),
              std::string::npos)
        << outcome.err;
    EXPECT_EQ(outcome.shim_lines().size(), 2u) << outcome.err;
  }
}

}  // namespace
}  // namespace profshim::e2e
