#include <gtest/gtest.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"

namespace profshim::e2e {
namespace {

struct Replaced {
  const char *how, *name, *when;
  bool is_log;
};
class ReplacedStderr : public testing::TestWithParam<Replaced> {};

TEST_P(ReplacedStderr, GetsTheLinesIfItIsALog) {
  const Replaced& c = GetParam();
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    std::vector<std::string> command = {built("tests/apps_limits/" + to_string(mpi) + "/replace_stderr"), c.how,
                                        scratch / c.name};
    if (*c.when != '\0') command.emplace_back(c.when);
    Job job = mpirun(mpi, 1, command);
    job.folder = scratch.path();
    job.environment.emplace_back("PROFSHIM_FOLDER", scratch / "traces");
    job.environment.emplace_back("PROFSHIM_SET", "steps.source=none");

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    EXPECT_TRUE(outcome.shim_lines().empty()) << outcome.err;
    const std::string target = text_of_file(scratch / c.name);
    const std::string own = text_of_file(scratch / "traces/profshim-rank0.log");
    const std::string& lines = c.is_log ? target : own;
    EXPECT_NE(lines.find("profshim: rank 0: 1 trace in "), std::string::npos) << target << own;
    if (c.is_log) {
      EXPECT_EQ(target.rfind("data\n", 0), 0u) << target;
      EXPECT_EQ(own, "");
    } else {
      EXPECT_EQ(target, "data\n");
    }
  }
}
INSTANTIATE_TEST_SUITE_P(
    Files, ReplacedStderr,
    testing::Values(Replaced{"dup", "worker-abc.err", "", true}, Replaced{"dup", "worker-abc.err", "before", true},
                    Replaced{"dup", "daemon.log", "before", true}, Replaced{"open", "results.dat", "", false},
                    Replaced{"open", "results.dat", "before", false}, Replaced{"dup", "results.out", "", false}),
    [](const auto& row) { return "case_" + std::to_string(row.index); });

TEST(ReplacedStderr, LinesGoToTheRunFolderIfItIsDevNull) {
  const ScratchFolder scratch;
  const Mpi mpi = installed_mpis().front();
  Job job = mpirun(mpi, 1, {built("tests/apps_limits/" + to_string(mpi) + "/replace_stderr"), "dup", "/dev/null"});
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_FOLDER", scratch / "traces");
  job.environment.emplace_back("PROFSHIM_SET", "steps.source=none");

  EXPECT_EQ(run(job).ending(), "exit 0");

  const std::string lines = text_of_file(scratch / "traces/profshim-rank0.log");
  EXPECT_NE(lines.find("profshim: rank 0: 1 trace in "), std::string::npos) << lines;
}

}  // namespace
}  // namespace profshim::e2e
