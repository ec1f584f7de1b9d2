#include <gtest/gtest.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

class Secrets : public testing::Test {
 protected:
  Outcome record(const std::string& spec) {
    Job job{.command = {built("tests/apps_ending/" + to_string(installed_mpis().back()) + "/ending"), "return", "5",
                        "--token=topsecret", "--password", "topsecret", "WANDB_API_KEY=topsecret", "--lr=0.1"}};
    job.environment.emplace_back("PROFSHIM_SPEC", scratch_.write("spec.toml", spec));
    job.environment.emplace_back("SLURM_JOB_ID", "../../etc");
    job.folder = scratch_.path();
    return run(job);
  }

  const ScratchFolder scratch_;
};

TEST_F(Secrets, ValuesOfSecretArgumentsAreNotInAnyFile) {
  const Outcome outcome = record(record_all_spec(scratch_ / "run"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch_ / "run");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_NE(traces[0].property("command").find("return 5 --token=*** --password *** WANDB_API_KEY=*** --lr=0.1"),
            std::string::npos)
      << traces[0].property("command");
  for (const std::string& file : files_below(scratch_ / "run")) {
    EXPECT_EQ(text_of_file((scratch_ / "run") + "/" + file).find("topsecret"), std::string::npos) << file;
  }
}

TEST_F(Secrets, TheFinishCommandIsNotInAnyFile) {
  const Outcome outcome =
      record(record_all_spec(scratch_ / "run") + "[finish]\ncommand = 'test -n topsecret'\ntimeout_seconds = 7\n");

  const auto traces = read_folder(scratch_ / "run");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_NE(traces[0].property("spec").find("timeout_seconds = 7"), std::string::npos) << traces[0].property("spec");
  for (const std::string& file : files_below(scratch_ / "run"))
    EXPECT_EQ(text_of_file((scratch_ / "run") + "/" + file).find("topsecret"), std::string::npos) << file;
}

TEST_F(Secrets, ArgumentsCanBeLeftOut) {
  const Outcome outcome = record(record_all_spec(scratch_ / "run") + "arguments = false\n");

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch_ / "run");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_TRUE(traces[0].property("command").ends_with("/ending")) << traces[0].property("command");
}

TEST_F(Secrets, AVariableOfTheEnvironmentStaysInsideItsFolder) {
  const Outcome outcome = record(record_all_spec((scratch_ / "run") + "/{job_id}"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(traces_below((scratch_ / "run") + "/slurm-.._.._etc").size(), 1u) << outcome.err;
}

}  // namespace
}  // namespace profshim::e2e
